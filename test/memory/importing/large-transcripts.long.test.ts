/** Transcripts of many megabytes: read, or refused with the limit and the place, before anything is written, and in bounded time. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFileSource } from '../../../src/cli/file-source.js';
import { importTranscript } from '../../../src/memory/importing/import-transcript.js';
import { agentExists } from '../../../src/memory/open-memory.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { tempFolder } from '../memory-kit.js';

const MB = 1024 * 1024;
const SECONDS = 1000;
const user = { role: 'user', content: 'go' };
const said = (content: string) => ({ role: 'assistant', content });
const calls = (count: number) =>
  `{"role":"assistant","content":null,"tool_calls":[${Array(count).fill('{}').join(',')}]}`;
const lines = (...list: readonly object[]) => list.map((line) => `${JSON.stringify(line)}\n`).join('');

async function imported(text: string) {
  const file = path.join(await tempFolder(), 'transcript');
  await fs.writeFile(file, text);
  const storage = new MemoryStorage();
  const { source, close } = await openFileSource(file);
  try {
    return { storage, report: await importTranscript(storage, 'a', source) };
  } finally {
    await close();
  }
}

async function refused(text: string) {
  const file = path.join(await tempFolder(), 'transcript');
  await fs.writeFile(file, text);
  const storage = new MemoryStorage();
  const { source, close } = await openFileSource(file);
  const thrown: unknown = await importTranscript(storage, 'a', source).catch((error: unknown) => error);
  await close();
  expect(await agentExists(storage, 'a')).toBe(false);
  return thrown;
}

describe('a valid transcript of 90 MB', () => {
  it.each([
    [
      'a document of many messages',
      () => JSON.stringify({ messages: [user, ...Array(180).fill(said('x'.repeat(MB / 2)))] }),
      181,
    ],
    [
      'two long messages in a list',
      () => JSON.stringify([user, said('x'.repeat(45 * MB)), said('y'.repeat(45 * MB))]),
      3,
    ],
    [
      'lines, the second one long',
      () => lines(user, said('x'.repeat(45 * MB)), said('y'.repeat(45 * MB))),
      3,
    ],
    [
      'lines, the first one long',
      () => lines({ ...user, content: 'x'.repeat(45 * MB) }, said('y'.repeat(45 * MB))),
      2,
    ],
    [
      'a document with a long field before its messages',
      () => JSON.stringify({ note: 'x'.repeat(90 * MB), messages: [user, said('ok')] }),
      2,
    ],
  ])(
    'is imported: %s',
    async (_, text, messages) => {
      const { report } = await imported(text());
      expect(report).toMatchObject({ messages, losses: { dropped: [] } });
    },
    120 * SECONDS,
  );
});

describe('what is too large', () => {
  it(
    'is refused with its place: a message that no record holds',
    async () => {
      expect(await refused(JSON.stringify({ messages: [user, said('x'.repeat(70 * MB))] }))).toMatchObject({
        code: 'TRANSCRIPT_INVALID',
        details: { problem: 'too large', message: 2, bytesMax: 64 * MB },
      });
    },
    120 * SECONDS,
  );

  it(
    'is refused with its place: a line that no text holds',
    async () => {
      const text = lines(user, said('ok'));
      expect(await refused(`${text}{"role":"user","content":"${'x'.repeat(130 * MB)}"}\n`)).toMatchObject({
        code: 'TRANSCRIPT_INVALID',
        details: { problem: 'too large', line: 3, offset: text.length, bytesMax: 128 * MB },
      });
    },
    120 * SECONDS,
  );

  it.each([
    ['2,000,000 in a document', `{"messages":[{"role":"user","content":"go"},${calls(2_000_000)}]}`],
    ['5,000,000 in a document', `{"messages":[${calls(5_000_000)}]}`],
    ['200,000 in a document', `{"messages":[{"role":"user","content":"go"},${calls(200_000)}]}`],
    ['200,000 on a line', `{"role":"user","content":"go"}\n${calls(200_000)}\n`],
  ])(
    'is refused quickly: empty tool calls, %s',
    async (_, text) => {
      const start = performance.now();
      expect(await refused(text)).toMatchObject({
        code: 'TRANSCRIPT_INVALID',
        details: { problem: 'too large' },
      });
      expect(performance.now() - start).toBeLessThan(20 * SECONDS);
    },
    60 * SECONDS,
  );
});
