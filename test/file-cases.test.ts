/** The cases about files: their snapshots as they are, their neutral traces as rows of ours, byte for byte where they are damaged. */
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '../src/core/json.js';
import type { Message } from '../src/messages/message.js';
import { messageToJson } from '../src/messages/message-serializer.js';
import { filePlace, openAgent } from './memory/memory-kit.js';
import { CASE_FILES, type CaseFile, expectedMessages, matches } from './messages/case-files.js';

const PROMPT = 'You are the build helper.';

function caseOf(id: string): CaseFile {
  return CASE_FILES.find((file) => file.id === id)!;
}

function bytesOf(given: JsonValue | undefined): Buffer {
  const { text, base64 } = given as { text?: string; base64?: string };
  return text === undefined ? Buffer.from(base64!, 'base64') : Buffer.from(text);
}

const HEAD = /\{"seq":(\d+),(?:"turn":(\d+),)?"role":"(user|assistant)"/g;
const head = (seq: string, turn: string, type: string) =>
  `{"id":"rt_${seq}","ts":${seq},"turn_id":"turn_${turn.padStart(4, '0')}","seq":${seq},"trace_type":"${type}","source_event":"Case"`;

/** Field names only, so that damaged bytes stay where they are; whole rows of a kind of their own are written anew. */
function rowsOf(lines: string): string {
  return lines
    .split('\n')
    .flatMap((line) => {
      const row = tryParseJson(line);
      if (isJsonObject(row) && row['kind'] === 'compaction') return [compactionRow(row)];
      if (isJsonObject(row) && Array.isArray(row['tool_calls']))
        return row['tool_calls'].map((call) => callRow(row, call));
      return [
        line.replace(HEAD, (_, seq: string, turn: string | undefined, role: string) =>
          head(seq, turn ?? '1', role),
        ),
      ];
    })
    .join('\n');
}

function compactionRow({ seq, epoch, summary }: JsonObject): string {
  const messages = [
    { role: 'system', content: PROMPT },
    { role: 'user', content: summary, kind: 'memory' },
  ];
  const body = {
    epoch_id: epoch,
    last_compaction_ts: seq,
    last_turn: 2,
    messages,
    episodic: [],
    semantic: [],
  };
  return `${head(String(seq), '0', 'compaction').replace('"turn_0000"', '""')},${JSON.stringify(body).slice(1)}`;
}

function callRow({ seq }: JsonObject, call: JsonValue): string {
  const { id, name, arguments: args } = call as JsonObject;
  return `${head(String(seq), '1', 'tool_call')},${JSON.stringify({ tool_call_id: id, tool_name: name, tool_args: args }).slice(1)}`;
}

async function placeOf(file: CaseFile) {
  const place = await filePlace();
  for (const [name, content] of Object.entries(file.raw['files'] as JsonObject)) {
    const bytes = bytesOf(content);
    if (name.endsWith('/trace.jsonl'))
      await place.put('raw_traces.jsonl', Buffer.from(rowsOf(bytes.toString('latin1')), 'latin1'));
    else await place.put('working_context_snapshot.json', bytes);
  }
  return place;
}

/** As the case has them: without the marks that the neutral form does not know. */
function bare(messages: readonly Message[]): Message[] {
  return messages.map(({ turnId: _, messageId: __, ...message }) => message);
}

function withoutEpoch(messages: readonly Message[] | null): Message[] {
  return (messages ?? []).map(({ extra: _, ...message }) => message);
}

describe('the case', () => {
  it.each([
    ['053', 'rebuilt', PROMPT],
    ['054', 'imported', null],
    ['061', 'imported', null],
  ] as const)('%s gives the expected context, %s, and the same once more', async (id, source, system) => {
    const place = await placeOf(caseOf(id));
    const opened = await openAgent(place, { system });
    expect(opened.report.source).toBe(source);
    const messages = bare(opened.memory.getWorkingContextMessages());
    expect(
      matches(messages, withoutEpoch(expectedMessages(caseOf(id)))),
      JSON.stringify(messages.map(messageToJson)),
    ).toBe(true);
    await opened.close();
    const again = await openAgent(place, { system });
    expect(bare(again.memory.getWorkingContextMessages())).toStrictEqual(messages);
    expect(again.report.repairs).toStrictEqual([]);
  });

  it.each(['057', '059'])('%s loads everything readable and reports the damage', async (id) => {
    const file = caseOf(id);
    const { memory, report } = await openAgent(await placeOf(file), { system: PROMPT });
    const text = JSON.stringify(memory.getWorkingContextMessages().map(messageToJson));
    for (const kept of file.expected['keeps'] as string[]) expect(text).toContain(kept);
    expect(report.source).toBe('rebuilt');
    expect(report.damage.length).toBeGreaterThan(0);
    for (const { bytes } of report.damage) expect(bytes).toBeGreaterThan(0);
  });

  it.each(caseOf('062').raw['variants'] as JsonObject[])(
    '062 takes the version $schema_version as the case says: $expect',
    async ({ schema_version, expect: wanted }) => {
      const place = await filePlace();
      const messages = [
        { role: 'system', content: 's' },
        { role: 'user', content: 'hi' },
      ];
      const version = schema_version === undefined ? {} : { schema_version };
      const text = JSON.stringify({
        ...version,
        agent_id: 'agent-a',
        epoch_id: 1,
        last_compaction_ts: null,
        messages,
      });
      await place.put('working_context_snapshot.json', text);
      const opened = await openAgent(place, { system: 's' }).catch((thrown: unknown) => thrown);
      if (wanted === 'accepted') expect(opened).toMatchObject({ report: { source: 'imported' } });
      else {
        // There are no traces to rebuild from, so what became of the cache is in the error.
        const reason =
          Number.isInteger(schema_version) && Number(schema_version) > 1 ? 'unsupported' : 'damaged';
        expect(opened).toMatchObject({ code: 'CONTEXT_BLANK', details: { cacheRefused: reason } });
      }
      expect(await place.text('working_context_snapshot.json')).toBe(text);
    },
  );
});
