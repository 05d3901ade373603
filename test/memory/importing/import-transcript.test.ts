/** A transcript becomes an agent, and the first restore makes a legal context of it. */
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/core/clock.js';
import { RekindleError } from '../../../src/core/errors.js';
import type { JsonObject } from '../../../src/core/json.js';
import { importTranscript } from '../../../src/memory/importing/import-transcript.js';
import { agentExists, openMemory } from '../../../src/memory/open-memory.js';
import { WorkingContextSnapshotBootstrapper } from '../../../src/memory/restore/working-context-snapshot-bootstrapper.js';
import { sourceOf } from '../../../src/messages/importers/source.js';
import type { TranscriptSource } from '../../../src/messages/importers/transcript.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { lines } from '../../messages/importers/read-all.js';
import { pngOf } from '../../messages/media-bytes.js';
import { sketch } from '../memory-kit.js';

const AGENT = 'imported';

function chat(...messages: JsonObject[]): TranscriptSource {
  return sourceOf(JSON.stringify({ messages }));
}

function toolCalls(...ids: string[]): JsonObject {
  return {
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => ({
      id,
      type: 'function',
      function: { name: 'look', arguments: '{"n": 1}' },
    })),
  };
}

const user = (content: string): JsonObject => ({ role: 'user', content });
const tool = (id: string, content = `result of ${id}`): JsonObject => ({
  ...{ role: 'tool', tool_call_id: id, content },
});

const PNG = Buffer.from(pngOf(3, 2));
const IMAGE = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } };

async function restore(storage: MemoryStorage) {
  const opened = await openMemory(storage, AGENT, { compaction: null });
  const report = await new WorkingContextSnapshotBootstrapper().bootstrap(opened.memory, null);
  const messages = opened.memory.getWorkingContextMessages();
  await opened.close();
  return { report, messages, sketch: sketch(messages) };
}

/** Without the journal's header. */
async function rowsOf(storage: MemoryStorage): Promise<JsonObject[]> {
  const journal = await storage.openJournal(['agents', AGENT, 'raw_traces'], { readOnly: true });
  const rows: JsonObject[] = [];
  for await (const entry of journal.read()) if (entry.kind === 'record') rows.push(entry.record);
  await journal.close();
  return rows.filter((row) => row['trace_type'] !== 'journal');
}

describe('the agent', () => {
  it('has the conversation of the transcript', async () => {
    const storage = new MemoryStorage();
    const source = chat(
      ...[{ role: 'system', content: 'Be brief.' }, user('Look twice.'), toolCalls('a', 'b')],
      ...[tool('b'), tool('a'), { role: 'assistant', content: 'Seen.' }, user('And now?')],
    );
    expect(await importTranscript(storage, AGENT, source)).toMatchObject({
      ...{ agentId: AGENT, format: 'openai-chat', messages: 7, replayed: 0, turns: 2 },
      ...{ traces: 8, artifacts: 0, openCalls: 0 },
    });
    const restored = await restore(storage);
    expect(restored.sketch).toStrictEqual([
      'system: Be brief.',
      'user: Look twice.',
      'assistant calls a b',
      'tool a = "result of a"',
      'tool b = "result of b"',
      'assistant: Seen.',
      'user: And now?',
    ]);
    expect(restored.report.repairs).toStrictEqual([]);
  });

  it('has a late result with its call', async () => {
    const storage = new MemoryStorage();
    await importTranscript(storage, AGENT, chat(user('Look.'), toolCalls('a'), user('Well?'), tool('a')));
    expect((await restore(storage)).sketch).toStrictEqual([
      'user: Look.',
      'assistant calls a',
      'tool a = "result of a"',
      'user: Well?',
    ]);
  });

  it('begins with the summary of the last compaction', async () => {
    const storage = new MemoryStorage();
    const text = (role: string, said: string) => ({
      type: 'message',
      role,
      content: [{ type: role === 'user' ? 'input_text' : 'output_text', text: said }],
    });
    const record = (type: string, payload: object) => ({ timestamp: '2026-01-02T03:04:05Z', type, payload });
    const rollout = lines(
      record('session_meta', { id: 's', timestamp: '2026-01-02T03:04:05Z', instructions: 'Be brief.' }),
      record('response_item', text('user', 'One?')),
      record('response_item', text('assistant', 'Yes.')),
      record('compacted', { message: '', replacement_history: [text('user', 'One was asked.')] }),
      record('response_item', text('user', 'Two?')),
    );
    await importTranscript(storage, AGENT, sourceOf(rollout));
    const { sketch: shown, report } = await restore(storage);
    expect(shown).toStrictEqual(['system: Be brief.', 'user: One was asked.', 'user: Two?']);
    expect(report.epochId).toBe(2);
  });

  it('has images as artifacts, with the bytes that stood in the transcript', async () => {
    const storage = new MemoryStorage();
    const content = [{ type: 'text', text: 'Look.' }, IMAGE, IMAGE];
    const report = await importTranscript(storage, AGENT, chat({ role: 'user', content }));
    expect(report.artifacts).toBe(2);
    expect(JSON.stringify(await rowsOf(storage))).not.toContain('base64');

    const [message] = (await restore(storage)).messages;
    const [, image] = message?.parts ?? [];
    if (image?.type !== 'media') throw new TypeError('no image');
    expect(image.media).toMatchObject({ kind: 'image', mime: 'image/png', bytes: PNG.length });
    const opened = await openMemory(storage, AGENT, { readOnly: true });
    expect(Buffer.from((await opened.memory.getArtifact(image.media.ref)) ?? [])).toStrictEqual(PNG);
    await opened.close();
  });

  it('keeps images that are somewhere else where they are', async () => {
    const storage = new MemoryStorage();
    const content = [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }];
    expect((await importTranscript(storage, AGENT, chat({ role: 'user', content }))).artifacts).toBe(0);
    expect(JSON.stringify(await rowsOf(storage))).toContain('https://example.com/a.png');
  });

  it('has the same bytes after a second restore, which repairs nothing', async () => {
    const storage = new MemoryStorage();
    await importTranscript(storage, AGENT, chat(user('Look.'), toolCalls('a', 'b'), tool('b'), user(' ')));
    const first = await restore(storage);
    const second = await restore(storage);
    expect(second.messages).toStrictEqual(first.messages);
    expect(second.report.repairs).toStrictEqual([]);
  });
});

describe('a call that the transcript leaves open', () => {
  it('comes back as of unknown outcome', async () => {
    const storage = new MemoryStorage();
    const source = chat(user('Look.'), toolCalls('a', 'b'), tool('a'));
    expect((await importTranscript(storage, AGENT, source)).openCalls).toBe(1);
    const { report, messages } = await restore(storage);
    expect(report.interruptedCalls).toMatchObject([
      { callId: 'b', toolName: 'look', verdict: 'outcome_unknown' },
    ]);
    expect(messages.at(-1)).toMatchObject({ role: 'tool', synthetic: true });
  });

  it.each([
    ['under an id that was used before', [user('1'), toolCalls('a'), tool('a'), user('2'), toolCalls('a')]],
    ['in an early turn', [user('1'), toolCalls('a'), user('2'), toolCalls('b'), user('3'), toolCalls('a')]],
    ['twice under one id', [user('1'), toolCalls('a', 'a')]],
    ['without an id', [user('1'), toolCalls('')]],
  ])('comes back so %s', async (_, messages) => {
    const storage = new MemoryStorage();
    await importTranscript(storage, AGENT, chat(...messages));
    const { report } = await restore(storage);
    const verdicts = report.interruptedCalls.map(({ verdict }) => verdict);
    expect(verdicts.length).toBeGreaterThan(0);
    expect(new Set(verdicts)).toStrictEqual(new Set(['outcome_unknown']));
  });

  it('comes back so when a compaction kept it', async () => {
    const storage = new MemoryStorage();
    const record = (type: string, payload: object) => ({ timestamp: '2026-01-02T03:04:05Z', type, payload });
    const call = { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'call_k' };
    const rollout = lines(
      record('session_meta', { id: 's', timestamp: '2026-01-02T03:04:05Z', instructions: 'Be brief.' }),
      record('compacted', { message: '', replacement_history: [call] }),
    );
    await importTranscript(storage, AGENT, sourceOf(rollout));
    expect((await restore(storage)).report.interruptedCalls).toMatchObject([
      { callId: 'call_k', verdict: 'outcome_unknown' },
    ]);
  });
});

describe('times', () => {
  const session = (...records: JsonObject[]) =>
    sourceOf(JSON.stringify({ info: { id: 's1' }, messages: records }));
  const record = (id: string, created: number) => ({
    info: { id, sessionID: 's1', role: 'user', time: { created } },
    parts: [{ id: `p${id}`, messageID: id, type: 'text', text: id }],
  });

  it("of the rows are the transcript's", async () => {
    const storage = new MemoryStorage();
    await importTranscript(storage, AGENT, session(record('m1', 1000_500), record('m2', 2000_000)));
    expect((await rowsOf(storage)).map((row) => row['ts'])).toStrictEqual([1000.5, 2000]);
  });

  it('before the first one of a document are that one', async () => {
    const storage = new MemoryStorage();
    const { info, parts } = record('m1', 0);
    const { time: _, ...timeless } = info;
    await importTranscript(storage, AGENT, session({ info: timeless, parts }, record('m2', 2000_000)));
    expect((await rowsOf(storage)).map((row) => row['ts'])).toStrictEqual([2000, 2000]);
  });

  it('of a transcript without any are those of the import', async () => {
    const storage = new MemoryStorage();
    const clock = new ManualClock(1_700_000_000_000);
    await importTranscript(storage, AGENT, chat(user('Hi.')), { clock });
    expect((await rowsOf(storage)).map((row) => row['ts'])).toStrictEqual([1_700_000_000]);
  });
});

describe('what is written', () => {
  it('comes in batches, each of which is told', async () => {
    const told: number[] = [];
    const long = 'x'.repeat(300 * 1024);
    const source = chat(user(long), user(long), user('short'));
    const onProgress = ({ messages }: { messages: number }) => void told.push(messages);
    await importTranscript(new MemoryStorage(), AGENT, source, { onProgress });
    expect(told).toStrictEqual([2, 3]);
  });

  it('has a replayed message once', async () => {
    const storage = new MemoryStorage();
    const call = { id: 'a', name: 'look', arguments: {} };
    const answer = { role: 'assistant', message_id: 'm1', tool_payload: { tool_calls: [call] } };
    const tool_payload = { tool_call_id: 'a', tool_name: 'look', tool_result: 'seen' };
    const source = sourceOf(JSON.stringify([user('Look.'), answer, { role: 'tool', tool_payload }, answer]));
    const report = await importTranscript(storage, AGENT, source);
    expect(report).toMatchObject({ messages: 4, replayed: 1, openCalls: 0 });
    expect((await restore(storage)).sketch).toStrictEqual([
      'user: Look.',
      'assistant calls a',
      'tool a = "seen"',
    ]);
  });

  it('is accounted for', async () => {
    const { losses } = await importTranscript(new MemoryStorage(), AGENT, chat(user('Hi.'), toolCalls('a')));
    expect(losses).toStrictEqual({
      records: 2,
      kept: { 'user message': 1, 'assistant message': 1, 'tool call': 1 },
      approximated: [],
      dropped: [],
    });
  });
});

describe('nothing is written', () => {
  const refusal = async (storage: MemoryStorage, source: TranscriptSource, agentId = AGENT) => {
    const thrown: unknown = await importTranscript(storage, agentId, source).catch((error: unknown) => error);
    return thrown instanceof RekindleError ? thrown.code : thrown;
  };

  it('for an unknown format', async () => {
    const storage = new MemoryStorage();
    expect(await refusal(storage, sourceOf('Hello.'))).toBe('TRANSCRIPT_UNKNOWN');
    expect(await agentExists(storage, AGENT)).toBe(false);
  });

  it('for a document that is broken at its end', async () => {
    const storage = new MemoryStorage();
    const long = 'x'.repeat(600 * 1024); // more than a batch
    const rest = Array.from({ length: 20 }, () => user('Bye.'));
    const text = JSON.stringify({ messages: [user('Hi.'), user(long), ...rest] });
    expect(await refusal(storage, sourceOf(text.slice(0, -10)))).toBe('TRANSCRIPT_INVALID');
    expect(await agentExists(storage, AGENT)).toBe(false);
  });

  it('over an agent that exists', async () => {
    const storage = new MemoryStorage();
    await importTranscript(storage, AGENT, chat(user('First.')));
    const before = await rowsOf(storage);
    expect(await refusal(storage, chat(user('Second.')))).toBe('AGENT_EXISTS');
    expect(await rowsOf(storage)).toStrictEqual(before);
  });

  it('for a name that is none', async () => {
    expect(await refusal(new MemoryStorage(), chat(user('Hi.')), '../up')).toBe('INVALID_NAME');
  });

  it('while another process holds the agent, and the agent is free after a refusal', async () => {
    const storage = new MemoryStorage();
    const lease = await storage.leases.acquire(['agents', AGENT]);
    expect(await refusal(storage, chat(user('Hi.')))).toBe('LEASE_HELD');
    await lease.release();
    await importTranscript(storage, AGENT, chat(user('Hi.')));
    expect((await restore(storage)).sketch).toStrictEqual(['user: Hi.']);
  });
});
