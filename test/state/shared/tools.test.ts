import { describe, expect, it, onTestFinished } from 'vitest';
import { createAgent } from '../../../src/agent/factory/agent-factory.js';
import { type ScriptedCall, ScriptedModel } from '../../../src/agent/model/scripted-model.js';
import { ToolRegistry } from '../../../src/agent/tools/tool-registry.js';
import type { JsonObject } from '../../../src/core/json.js';
import { sharedStateTools } from '../../../src/state/shared/tools/shared-state-tools.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { outline } from '../../agent/agent-fixture.js';
import { errorOf } from '../durable/state-kit.js';
import { Den, valuesOf } from './shared-kit.js';

const CONTEXT = { callId: 'c1', turnId: 't1', idempotencyKey: 'k', signal: new AbortController().signal };

function bench() {
  const state = Den.memory().state();
  const tools = sharedStateTools({ state, session: 'child_a' });
  const call = async (name: string, args: JsonObject = {}): Promise<unknown> =>
    tools.find((tool) => tool.name === name)!.execute(args, CONTEXT);
  return { state, tools, call, registry: new ToolRegistry(tools) };
}

/** What a model sees when it makes these calls one after the other, and nothing else. */
async function conversation(
  { tools }: ReturnType<typeof bench>,
  calls: readonly ScriptedCall[],
): Promise<string[]> {
  const model = new ScriptedModel([...calls.map((call) => ({ calls: [call] })), { text: 'Done.' }]);
  const agent = createAgent({ agentId: 'ada', model, storage: new MemoryStorage(), tools });
  onTestFinished(() => agent.stop({ graceMs: 0 }));
  await agent.start();
  await agent.send('go');
  model.assertDone();
  return outline(agent.messages).filter((line) => /^(result|error)/.test(line));
}

describe('the tools of a shared state', () => {
  it('have names and schemas that every provider takes', () => {
    const { tools } = bench();
    const names = [
      'state_get',
      'state_set',
      'state_delete',
      'state_increment',
      'state_append',
      'state_patch',
    ];
    expect(tools.map(({ name }) => name)).toEqual(names);
    for (const { description, inputSchema } of tools) {
      expect(description).not.toBe('');
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    }
  });

  it('act for the session that they are made for: the model cannot choose another', async () => {
    const { state, call, registry } = bench();
    await call('state_set', { key: 'a', value: 1, by: 'somebody' });
    await call('state_increment', { key: 'a' });
    await call('state_append', { key: 'b', items: [1] });
    await call('state_delete', { key: 'a' });
    await call('state_patch', { patch: { c: 1 }, by: 'somebody' });
    const changes = await state.changesSince(0);
    expect(changes.map(({ op, by }) => [op, by])).toEqual([
      ['set', 'child_a'],
      ['increment', 'child_a'],
      ['append', 'child_a'],
      ['delete', 'child_a'],
      ['set', 'child_a'],
    ]);
    for (const extra of ['by', 'session', 'root'])
      expect(registry.problemWith('state_set', { key: 'a', value: 1, [extra]: 'x' })).not.toBeNull();
  });

  it('read one key, or all of them', async () => {
    const { state, call } = bench();
    expect(await call('state_get')).toEqual({ global_version: 0, keys: [] });
    const { updatedAt } = await state.set('a', { n: 1 }, { by: 'root' });
    const shown = { key: 'a', value: { n: 1 }, version: 1, updated_at: updatedAt, updated_by: 'root' };
    expect(await call('state_get', { key: 'a' })).toEqual({ found: true, ...shown });
    expect(await call('state_get', { key: 'b' })).toEqual({ found: false, key: 'b' });
    expect(await call('state_get')).toEqual({ global_version: 1, keys: [shown] });
  });

  it('change a key, and tell the new version', async () => {
    const { state, call } = bench();
    expect(await call('state_set', { key: 'a', value: null })).toMatchObject({ value: null, version: 1 });
    expect(await call('state_increment', { key: 'n' })).toMatchObject({ value: 1 });
    expect(await call('state_increment', { key: 'n', delta: -3 })).toMatchObject({ value: -2, version: 2 });
    await call('state_append', { key: 'list', items: ['x'] });
    const appended = await call('state_append', { key: 'list', items: ['y', null] });
    expect(appended).toMatchObject({ key: 'list', version: 2, length: 3, updated_by: 'child_a' });
    expect(appended).not.toHaveProperty('value');
    expect(await call('state_delete', { key: 'a' })).toEqual({ key: 'a', deleted: true });
    expect(await call('state_delete', { key: 'a' })).toEqual({ key: 'a', deleted: false });
    expect(await valuesOf(state)).toEqual({ list: ['x', 'y', null], n: -2 });
  });

  it('append a list that came as a text in JSON, and say so', async () => {
    const { state, call } = bench();
    const appended = await call('state_append', { key: 'list', items: '["x", [1]]' });
    expect(appended).toMatchObject({ version: 1, length: 2, notes: ['decoded'] });
    expect(await valuesOf(state)).toEqual({ list: ['x', [1]] });
    for (const items of ['x', '[]', '{"a":1}', '"[1]"'])
      await expect(call('state_append', { key: 'list', items })).rejects.toThrow('a list of at least one');
    expect(await valuesOf(state)).toEqual({ list: ['x', [1]] });
  });

  it('keep a text that a key is set to as it is, also one that is JSON', async () => {
    const { state, call } = bench();
    for (const [key, value] of Object.entries({ a: '5', b: '{"c":1}', d: '"e"' }))
      await call('state_set', { key, value });
    await call('state_patch', { patch: { f: '[1]' } });
    expect(await valuesOf(state)).toEqual({ a: '5', b: '{"c":1}', d: '"e"', f: '[1]' });
  });

  it('patch several keys in one commit, and tell the version of each', async () => {
    const { state, call } = bench();
    await state.set('plan', { owner: 'ann', due: 'Friday' });
    await state.set('old', 1);
    const patch = { plan: { due: null, steps: ['build'] }, old: null, done: 1, nobody: null };
    expect(await call('state_patch', { patch })).toEqual({
      global_version: 5,
      keys: [
        { key: 'plan', version: 2 },
        { key: 'old', version: 0 },
        { key: 'done', version: 1 },
        { key: 'nobody', version: 0 },
      ],
    });
    expect(await valuesOf(state)).toEqual({ done: 1, plan: { owner: 'ann', steps: ['build'] } });
    expect((await state.changesSince(2)).map(({ lastOfCommit }) => lastOfCommit)).toEqual([5, 5, 5]);
  });

  it('patch only while nothing has changed since the version that is given', async () => {
    const { state, call } = bench();
    await call('state_patch', { patch: { a: 1 }, global_version: 0 });
    await state.set('b', 'of another');
    const late = await errorOf(call('state_patch', { patch: { a: 2 }, global_version: 1 }));
    expect(late).toMatchObject({ code: 'DOCUMENT_CONFLICT', details: { currentVersion: 2, ifVersion: 1 } });
    expect(late.message).toContain('version 2');
    expect(await valuesOf(state)).toEqual({ a: 1, b: 'of another' });
  });

  it('patch with an object that came as a text in JSON, and say so', async () => {
    const { state, call } = bench();
    const patched = await call('state_patch', { patch: '{"a": {"b": 1}}' });
    expect(patched).toEqual({ global_version: 1, keys: [{ key: 'a', version: 1 }], notes: ['decoded'] });
    for (const patch of ['x', '[]', '5', '"{}"'])
      expect(await errorOf(call('state_patch', { patch }))).toMatchObject({
        code: 'INVALID_ARGUMENT',
        details: { field: 'patch' },
      });
    expect(await valuesOf(state)).toEqual({ a: { b: 1 } });
  });

  it('change nothing by a patch of which one key is beyond a limit, or cannot be one', async () => {
    const { state, call } = bench();
    const large = { a: 1, b: 'x'.repeat(300 * 1024) };
    expect(await errorOf(call('state_patch', { patch: large }))).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      details: { limit: 'valueBytes', index: 1 },
    });
    expect((await errorOf(call('state_patch', { patch: { a: 1, '..': 1 } }))).code).toBe('INVALID_ARGUMENT');
    expect(await state.globalVersion()).toBe(0);
  });

  it('set and delete only at the version that is given', async () => {
    const { state, call } = bench();
    await call('state_set', { key: 'a', value: 'one', version: 0 });
    await call('state_set', { key: 'a', value: 'two', version: 1 });
    for (const name of ['state_set', 'state_delete']) {
      const error = await errorOf(call(name, { key: 'a', value: 'three', version: 1 }));
      expect(error).toMatchObject({
        code: 'DOCUMENT_CONFLICT',
        details: { currentVersion: 2, currentValue: 'two' },
      });
    }
    expect(await state.get('a')).toMatchObject({ value: 'two', version: 2 });
  });

  it.each([
    ['state_get', { key: '' }],
    ['state_get', { key: 5 }],
    ['state_set', { key: 'a' }],
    ['state_set', { key: 'a', value: 1, version: -1 }],
    ['state_set', { key: 'a', value: 1, version: 1.5 }],
    ['state_increment', { key: 'a', delta: 0.5 }],
    ['state_increment', { delta: 1 }],
    ['state_append', { key: 'a', items: [] }],
    ['state_append', { key: 'a', items: 5 }],
    ['state_delete', {}],
    ['state_patch', {}],
    ['state_patch', { patch: [] }],
    ['state_patch', { patch: { a: 1 }, global_version: -1 }],
    ['state_patch', { patch: { a: 1 }, version: 1 }],
  ] as const)('refuse %s with %j before it runs', (name, args) => {
    expect(bench().registry.problemWith(name, args as unknown as JsonObject)).toEqual(expect.any(String));
  });
});

describe('a model that uses the tools', () => {
  it('sees what became of each call, and why one was refused', async () => {
    const given = bench();
    await given.state.set('n', 'text', { by: 'root' });
    const lines = await conversation(given, [
      { name: 'state_get', arguments: { key: 'n' } },
      { name: 'state_increment', arguments: { key: 'n' } },
      { name: 'state_increment', arguments: { key: 'm' } },
    ]);
    expect(lines[0]).toContain('"value":"text"');
    expect(lines[1]).toContain('increment needs a number');
    expect(lines[2]).toContain('"value":1');
  });

  it('learns the current version and value from a conflict, as the description says', async () => {
    const given = bench();
    await given.state.set('a', 'the value by now');
    const [line] = await conversation(given, [
      { name: 'state_set', arguments: { key: 'a', value: 1, version: 7 } },
    ]);
    expect(line).toContain('version 1');
    expect(line).toContain('the value by now');
  });
});

describe('the summary of a shared state', () => {
  it('has what changed last first, and names what it leaves out', async () => {
    const { state } = bench();
    for (const key of ['a', 'b', 'c', 'd']) await state.set(key, key.repeat(3), { by: `by ${key}` });
    await state.increment('n');
    await state.set('a', 'new', { by: 'child' });
    const { text, shown, leftOut } = await state.summary({ maxKeys: 2 });
    expect(text).toBe(
      '- "a" (version 2, by "child"): "new"\n- "n" (version 1, by "unknown"): 1\n' +
        '(3 more keys are not shown; read them with state_get.)\n',
    );
    expect([shown, leftOut]).toEqual([
      ['a', 'n'],
      ['d', 'c', 'b'],
    ]);
  });

  it('stays within the characters that it is given', async () => {
    const { state } = bench();
    for (let n = 0; n < 30; n += 1) await state.set(`key${n}`, 'x'.repeat(n * 10));
    for (const maxChars of [100, 500, 4_000]) {
      const { text, shown, leftOut } = await state.summary({ maxChars });
      expect(text.length).toBeLessThanOrEqual(maxChars);
      expect(shown.length + leftOut.length).toBe(30);
    }
  });

  it('says that there is nothing, and has no line that a value made up', async () => {
    const { state } = bench();
    expect((await state.summary()).text).toBe('The state is empty.\n');
    await state.set('a\n- "b"', 'x\n- "admin" (version 9)', { by: 'x\ny' });
    expect((await state.summary()).text.split('\n')).toHaveLength(2);
  });

  it('shows everything where everything fits', async () => {
    const { state } = bench();
    await state.set('a', 'x'.repeat(200));
    const { text } = await state.summary();
    expect(await state.summary({ maxChars: text.length })).toEqual({ text, shown: ['a'], leftOut: [] });
  });
});
