/** The list of an imported transcript is the one that `repairHistory` gives, and nothing in a transcript makes a restore fail. */
import { describe, expect, it } from 'vitest';
import { RekindleError } from '../../../src/core/errors.js';
import type { JsonObject } from '../../../src/core/json.js';
import { importTranscript } from '../../../src/memory/importing/import-transcript.js';
import { agentExists, openMemory } from '../../../src/memory/open-memory.js';
import { WorkingContextSnapshotBootstrapper } from '../../../src/memory/restore/working-context-snapshot-bootstrapper.js';
import { contextOf, openTranscript } from '../../../src/messages/importers/read-transcript.js';
import { sourceOf } from '../../../src/messages/importers/source.js';
import { repairHistory } from '../../../src/messages/legality/history.js';
import { type Message, toolCallsOf, toolResultOf } from '../../../src/messages/message.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';

const AGENT = 'imported';
const user = (content: string): JsonObject => ({ role: 'user', content });
const tool = (id: string, content: string): JsonObject => ({ role: 'tool', tool_call_id: id, content });
const read = (id: string, path: string): JsonObject => ({
  ...{ id, type: 'function', function: { name: 'read', arguments: JSON.stringify({ path }) } },
});
const calls = (...tool_calls: JsonObject[]): JsonObject => ({ role: 'assistant', content: null, tool_calls });

async function restored(storage: MemoryStorage) {
  const opened = await openMemory(storage, AGENT, { compaction: null });
  await new WorkingContextSnapshotBootstrapper().bootstrap(opened.memory, null);
  const messages = opened.memory.getWorkingContextMessages();
  await opened.close();
  return messages;
}

/** What each call was told, by its arguments. */
function told(messages: readonly Message[]): Record<string, unknown> {
  const results = messages.flatMap((message) => toolResultOf(message) ?? []);
  return Object.fromEntries(
    messages.flatMap(toolCallsOf).map(({ id, arguments: args }) => {
      const result = results.find(({ toolCallId }) => toolCallId === id);
      return [JSON.stringify(args), result?.toolError === null ? result.toolResult : 'no result'];
    }),
  );
}

async function bothWays(messages: readonly JsonObject[]) {
  const text = JSON.stringify({ messages });
  const storage = new MemoryStorage();
  await importTranscript(storage, AGENT, sourceOf(text));
  const repaired = repairHistory(await contextOf(await openTranscript(sourceOf(text)))).messages;
  return { imported: await restored(storage), repaired };
}

describe('two calls of one response under one id', () => {
  it.each(['x', ''])('get their own results, in order (id %j)', async (id) => {
    const list = [
      user('go'),
      calls(read(id, '0'), read(id, '1')),
      tool(id, 'content of 0'),
      tool(id, 'content of 1'),
    ];
    const { imported, repaired } = await bothWays(list);
    expect(told(imported)).toEqual({ '{"path":"0"}': 'content of 0', '{"path":"1"}': 'content of 1' });
    expect(told(imported)).toEqual(told(repaired));
    expect(imported.flatMap(toolCallsOf)).toEqual(repaired.flatMap(toolCallsOf));
  });

  it('of which one was answered leave the second one interrupted', async () => {
    const list = [user('go'), calls(read('x', '0'), read('x', '1')), tool('x', 'content of 0')];
    const { imported, repaired } = await bothWays(list);
    expect(told(imported)).toEqual({ '{"path":"0"}': 'content of 0', '{"path":"1"}': 'no result' });
    expect(told(imported)).toEqual(told(repaired));
  });
});

/** Texts, calls and results of a list, without ids. */
const said = (messages: readonly Message[]) =>
  messages.map((message) => {
    const result = toolResultOf(message);
    const args = toolCallsOf(message).map((call) => call.arguments);
    return [
      message.role,
      message.content,
      args,
      message.synthetic ? 'no result' : (result?.toolResult ?? null),
    ];
  });

describe('a history that is put together', () => {
  const answer = { role: 'assistant', content: 'ok' };
  const system = (content: string): JsonObject => ({ role: 'system', content });
  const cut = (id: string): JsonObject => ({ id, name: 'read', arguments: '{"path": "' });
  const cutOff = (...tool_calls: JsonObject[]): JsonObject => ({
    ...{ role: 'assistant', content: 'I look.', status: 'aborted', tool_calls },
  });
  it.each<[string, JsonObject[]]>([
    [
      'calls that were written apart',
      [user('go'), calls(read('a', '0')), calls(read('b', '1')), tool('a', 'A'), tool('b', 'B')],
    ],
    ['a result under another spelling', [user('go'), calls(read('a|fc_1', '0')), tool('a', 'A'), answer]],
    ['a prompt behind a blank message', [system('One.'), user(''), system('Two.'), user('go')]],
    ['a part of the prompt again', [system('One.'), system('Two.'), user('go'), system('One.'), answer]],
    ['a result before its call', [user('go'), tool('a', 'A'), calls(read('a', '0'))]],
    ['a call that an answer did not finish', [user('go'), cutOff(cut('a')), user('next')]],
    [
      'a call that an answer did not finish, beside one that ran',
      [
        user('go'),
        cutOff(cut('a'), cut('b')),
        { role: 'tool', tool_call_id: 'b', tool_result: 'B' },
        user('next'),
      ],
    ],
  ])('(%s) is the repaired list', async (_, list) => {
    const { imported, repaired } = await bothWays(list);
    expect(said(imported)).toEqual(said(repaired));
  });

  it.each([
    ['a result of nothing', tool('a', 'of nothing')],
    [
      'an image that nothing asked for',
      {
        ...tool('a', 'of nothing'),
        content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }],
      },
    ],
    ['a prompt', system('Be kind.')],
    ['a prompt under its other name', { role: 'developer', content: 'Be kind.' }],
  ])('and has blank messages and %s is refused before anything is written', async (_, other) => {
    const storage = new MemoryStorage();
    const text = JSON.stringify({ messages: [user(' '), other] });
    await expect(importTranscript(storage, AGENT, sourceOf(text))).rejects.toMatchObject({
      code: 'TRANSCRIPT_INVALID',
      details: { problem: 'blank' },
    });
    expect(await agentExists(storage, AGENT)).toBe(false);
  });
});

describe('what is nested very deep', () => {
  const deepText = `{"a":${'['.repeat(6000)}${']'.repeat(6000)}}`;

  it('is kept as text where it is the text of arguments, and the agent can be restored', async () => {
    const call = { id: 'x', type: 'function', function: { name: 'read', arguments: deepText } };
    const { imported, repaired } = await bothWays([user('go'), calls(call), tool('x', 'A')]);
    expect(imported.flatMap(toolCallsOf)).toEqual(repaired.flatMap(toolCallsOf));
    expect(imported.flatMap(toolCallsOf)[0]!.arguments).toEqual({ _unparsed_arguments: deepText });
  });

  it('is cut, counted and restored where it is a value', async () => {
    const text = `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"read","input":${deepText}}]}]}`;
    const storage = new MemoryStorage();
    const { losses } = await importTranscript(storage, AGENT, sourceOf(text));
    expect(JSON.stringify(losses.approximated)).toContain('nested deeper than 500 levels');
    expect((await restored(storage)).flatMap(toolCallsOf)).toHaveLength(1);
  });
});

describe('an import that was interrupted', () => {
  const messages = Array.from({ length: 60 }, (_, n) =>
    n % 2 === 0
      ? user(`${n} ${'x'.repeat(40_000)}`)
      : n % 6 === 5
        ? calls(read('c', `${n}`))
        : { role: 'assistant', content: `answer ${n}` },
  );
  const text = JSON.stringify({ messages });

  async function interrupted() {
    const storage = new MemoryStorage();
    const onProgress = () => {
      throw new RekindleError('ABORTED', 'The process was killed.');
    };
    await expect(importTranscript(storage, AGENT, sourceOf(text), { onProgress })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    return storage;
  }

  it('is no agent, and cannot be opened', async () => {
    const storage = await interrupted();
    expect(await agentExists(storage, AGENT)).toBe(false);
    await expect(openMemory(storage, AGENT)).rejects.toMatchObject({
      code: 'AGENT_EXISTS',
      message: expect.stringContaining('import of a transcript'),
    });
  });

  it('goes on where it stopped when it is repeated, and gives the same agent', async () => {
    const storage = await interrupted();
    const whole = new MemoryStorage();
    const report = await importTranscript(storage, AGENT, sourceOf(text));
    const wholeReport = await importTranscript(whole, AGENT, sourceOf(text));
    expect(report).toEqual(wholeReport);
    const plain = (list: readonly Message[]) => list.map(({ messageId: _, ...message }) => message);
    expect(plain(await restored(storage))).toEqual(plain(await restored(whole)));
    await expect(importTranscript(storage, AGENT, sourceOf(text))).rejects.toMatchObject({
      code: 'AGENT_EXISTS',
    });
  });

  it('goes on after a compaction, too', async () => {
    const summary = { role: 'user', content: 'So far.', metadata: { kind: 'compaction_summary' } };
    const thought = { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: 's' }] };
    const list = [...messages.slice(0, 3), summary, thought, ...messages.slice(6, 40)];
    const compacted = JSON.stringify(list.filter((message) => !('tool_calls' in message)));
    const storage = new MemoryStorage();
    const onProgress = () => {
      throw new RekindleError('ABORTED', 'The process was killed.');
    };
    await expect(importTranscript(storage, AGENT, sourceOf(compacted), { onProgress })).rejects.toMatchObject(
      { code: 'ABORTED' },
    );
    const report = await importTranscript(storage, AGENT, sourceOf(compacted));
    expect(report.format).toBe('anthropic');
    expect(JSON.stringify(await restored(storage))).toContain('So far.');
  });

  it('is not continued with another transcript', async () => {
    const storage = await interrupted();
    const other = JSON.stringify({ messages: [user('something else'), ...messages] });
    await expect(importTranscript(storage, AGENT, sourceOf(other))).rejects.toMatchObject({
      code: 'AGENT_EXISTS',
    });
    await importTranscript(storage, AGENT, sourceOf(text));
    expect(await agentExists(storage, AGENT)).toBe(true);
  });
});
