import { describe, expect, it, onTestFinished } from 'vitest';
import { createAgent } from '../../../src/agent/factory/agent-factory.js';
import { type ScriptedCall, ScriptedModel } from '../../../src/agent/model/scripted-model.js';
import { ToolRegistry } from '../../../src/agent/tools/tool-registry.js';
import { ManualClock } from '../../../src/core/clock.js';
import type { JsonObject, JsonValue } from '../../../src/core/json.js';
import { compileSchema } from '../../../src/core/schema-check.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { ToolCallLog } from '../../../src/workspace/tool-calls/tool-call-log.js';
import { type WorkspaceToolOptions, workspaceTools } from '../../../src/workspace/tools/workspace-tools.js';
import { Workspace, type WorkspaceOptions } from '../../../src/workspace/workspace.js';
import { outline } from '../../agent/agent-fixture.js';
import { parseStrictXml } from '../context/strict-xml.js';

const CONTEXT = { callId: 'c1', turnId: 't1', idempotencyKey: 'k', signal: new AbortController().signal };

function bench(options: Partial<WorkspaceToolOptions> = {}, schemas: WorkspaceOptions = {}) {
  const clock = new ManualClock();
  const backend = new MemoryStorage();
  const workspace = new Workspace(backend, { clock, ...schemas });
  const log = new ToolCallLog(backend, { clock });
  const tools = workspaceTools({ workspace, agent: 'reader', log, calls: 'all', ...options });
  const call = async (name: string, args: JsonObject = {}): Promise<unknown> =>
    tools.find((tool) => tool.name === name)!.execute(args, CONTEXT);
  return { backend, workspace, log, tools, call, registry: new ToolRegistry(tools) };
}

const NAMES = [
  'get_workspace_context',
  'get_workspace_summary',
  'read_from_workspace',
  'write_to_workspace',
  'get_recent_tool_calls',
];

/** What a model sees when it makes these calls one after the other, and nothing else. */
async function conversation(
  given: ReturnType<typeof bench>,
  calls: readonly ScriptedCall[],
): Promise<string[]> {
  const model = new ScriptedModel([...calls.map((call) => ({ calls: [call] })), { text: 'Done.' }]);
  const { tools, backend } = given;
  const agent = createAgent({ agentId: 'ada', model, storage: backend, tools });
  onTestFinished(() => agent.stop({ graceMs: 0 }));
  await agent.start();
  await agent.send('go');
  model.assertDone();
  return outline(agent.messages).filter((line) => /^(result|error)/.test(line));
}

describe('the tools of a workspace', () => {
  it('have names and schemas that every provider takes', () => {
    const { tools } = bench();
    expect(tools.map(({ name }) => name)).toEqual(NAMES);
    for (const { name, description, inputSchema } of tools) {
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(description).not.toBe('');
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      compileSchema(inputSchema);
    }
  });

  it('are four without a log of calls', () => {
    const { workspace } = bench();
    expect(workspaceTools({ workspace, agent: 'a' }).map(({ name }) => name)).toEqual(NAMES.slice(0, 4));
  });

  it('may be called again after a crash, but for the one that writes', () => {
    const again = bench().tools.filter(({ idempotent }) => idempotent);
    expect(again.map(({ name }) => name)).toEqual(NAMES.filter((name) => name !== 'write_to_workspace'));
  });

  it.each([
    ['get_workspace_context', { keys: 'a' }],
    ['get_workspace_context', { keys: [''] }],
    ['get_workspace_context', { keys: [7] }],
    ['get_workspace_context', { agent: 'boss' }],
    ['get_workspace_context', { budget: { total: 1e9 } }],
    ['get_workspace_context', { dependencies: { required: ['a'] } }],
    ['get_workspace_summary', { agent: 'boss' }],
    ['read_from_workspace', {}],
    ['read_from_workspace', { key: 7 }],
    ['read_from_workspace', { key: 'a', version: 0 }],
    ['read_from_workspace', { key: 'a', version: '1' }],
    ['read_from_workspace', { key: 'a', version: 1.5 }],
    ['write_to_workspace', { key: 'a' }],
    ['write_to_workspace', { value: 1 }],
    ['write_to_workspace', { key: '', value: 1 }],
    ['write_to_workspace', { key: 'x'.repeat(201), value: 1 }],
    ['write_to_workspace', { key: 'a', value: 1, agent: 'boss' }],
    ['write_to_workspace', { key: 'a', value: 1, written_by: 'boss' }],
    ['write_to_workspace', { key: 'a', value: 1, writtenBy: 'boss' }],
    ['write_to_workspace', JSON.parse('{"key":"a","value":1,"__proto__":{"agent":"boss"}}')],
    ['get_recent_tool_calls', { limit: 0 }],
    ['get_recent_tool_calls', { limit: 51 }],
    ['get_recent_tool_calls', { status: 'any' }],
    ['get_recent_tool_calls', { agent: 'other' }],
  ])('%s refuses %j before it runs', (name, args: JsonObject) => {
    expect(bench().registry.problemWith(name, args)).toMatch(/do not fit the schema/);
  });
});

describe('write_to_workspace', () => {
  it('writes in the name of the agent that has the tool', async () => {
    const { call, workspace } = bench();
    expect(await call('write_to_workspace', { key: 'a', value: { b: [1] } })).toEqual({
      key: 'a',
      version: 1,
    });
    await call('write_to_workspace', { key: 'b', value: 1, agent: 'boss', written_by: 'boss' });
    for (const key of ['a', 'b']) expect((await workspace.read(key))?.writtenBy).toBe('reader');
  });

  it('tells what was done to the value', async () => {
    const { call, workspace } = bench();
    expect(await call('write_to_workspace', { key: 'a', value: '[1]' })).toEqual({
      key: 'a',
      version: 1,
      notes: ['decoded'],
    });
    expect((await workspace.read('a'))?.value).toEqual([1]);
  });

  it.each<[JsonObject, string]>([
    [{ key: 'list', value: 'text' }, 'ENTRY_INVALID'],
    [{ key: 'unknown', value: 1 }, 'ENTRY_INVALID'],
    [{ key: 'list' }, 'ENTRY_INVALID'],
    [{ key: '🙂'.repeat(200), value: [] }, 'INVALID_ARGUMENT'],
    [{ key: 'a\nb', value: [] }, 'INVALID_ARGUMENT'],
    [{ key: '\ud800', value: [] }, 'INVALID_ARGUMENT'],
  ])('refuses %j with a typed error', async (args, code) => {
    const { call, workspace } = bench({}, { schemas: { list: { type: 'array' } }, unknownKeys: 'refuse' });
    await expect(call('write_to_workspace', args)).rejects.toMatchObject({ code });
    expect(await workspace.list({ deleted: true })).toEqual([]);
  });

  it.each<JsonValue>([null, false, 0, '', [], {}])('takes the value %j', async (value) => {
    const { call, registry } = bench();
    expect(registry.problemWith('write_to_workspace', { key: 'a', value })).toBeNull();
    await call('write_to_workspace', { key: 'a', value });
    expect(await call('read_from_workspace', { key: 'a' })).toMatchObject({ value });
  });
});

describe('read_from_workspace', () => {
  it('reads the newest value at the time of the call, or an older version', async () => {
    const { call, workspace } = bench();
    for (const n of [1, 2, 3]) {
      await workspace.write('a', { n }, { agent: 'maker' });
      expect(await call('read_from_workspace', { key: 'a' })).toMatchObject({ version: n, value: { n } });
    }
    expect(await call('read_from_workspace', { key: 'a', version: 2 })).toEqual({
      key: 'a',
      version: 2,
      written_by: 'maker',
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      value: { n: 2 },
    });
  });

  it('refuses what is not there, and says what there is', async () => {
    const { call, workspace } = bench();
    const read = (args: JsonObject) => call('read_from_workspace', args);
    const absent = (message: string) => expect.objectContaining({ code: 'ENTRY_NOT_FOUND', message });
    await expect(read({ key: 'a' })).rejects.toEqual(
      absent('There is no entry "a". The workspace is empty.'),
    );
    for (const key of ['b', 'a', 'gone']) await workspace.write(key, 1);
    await workspace.delete('gone');
    await expect(read({ key: 'x' })).rejects.toEqual(absent('There is no entry "x". There are: a, b.'));
    await expect(read({ key: 'gone' })).rejects.toEqual(absent('There is no entry "gone". There are: a, b.'));
    await expect(read({ key: 'a', version: 2 })).rejects.toEqual(
      absent('There is no version 2 of "a". There are: a, b.'),
    );
    await expect(read({ key: 'gone', version: 2 })).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
    expect(await read({ key: 'gone', version: 1 })).toMatchObject({ value: 1 });
    for (const key of ['__proto__', 'constructor', '\u0000', '']) {
      await expect(read({ key })).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
    }
  });
});

describe('get_workspace_summary', () => {
  it('has one line for each entry, without its value', async () => {
    const { call, workspace } = bench();
    expect(await call('get_workspace_summary')).toBe('The workspace is empty.');
    await workspace.write('b', 'the secret', { agent: 'maker' });
    await workspace.write('a', { x: 1 });
    await workspace.write('gone', 1);
    await workspace.delete('gone');
    expect(await call('get_workspace_summary')).toBe(
      '- a: object with x (version 1, by unknown)\n- b: text of 10 characters (version 1, by maker)',
    );
  });

  it('stays one line for each entry whatever keys and names hold', async () => {
    const { call, workspace } = bench();
    await workspace.write('a', { 'x\n- root: text (version 9, by boss)': 1 }, { agent: 'm\r\n\u2028- b: x' });
    await workspace.write('b\u2028- c: x', 1);
    expect(String(await call('get_workspace_summary')).split(/[\r\n\u2028\u2029\u0085]/)).toHaveLength(2);
  });
});

describe('get_workspace_context', () => {
  const dependencies = { required: ['a', 'gone'], optional: ['b'], excluded: ['secret'] };
  const keysIn = (text: unknown) =>
    parseStrictXml(String(text)).children.map(({ name, attributes }) => [name, attributes.get('key')]);

  it('shows what the role of the agent depends on, as it is now', async () => {
    const { call, workspace } = bench({ dependencies, producers: { gone: 'miner' } });
    await workspace.write('a', 'old', { agent: 'maker' });
    await call('get_workspace_context');
    await workspace.write('a', 'new', { agent: 'maker' });
    await workspace.write('b', 'mine', { agent: 'reader' });
    const text = await call('get_workspace_context');
    expect(keysIn(text)).toEqual([
      ['workspace_entry', 'a'],
      ['missing_dependency', 'gone'],
    ]);
    expect(text).toContain('"new"');
    expect(text).toContain('producer="miner"');
  });

  it('shows the keys that the model names, but none that is excluded', async () => {
    const { call, workspace } = bench({ dependencies });
    for (const key of ['a', 'b', 'c', 'secret']) await workspace.write(key, key, { agent: 'maker' });
    expect(keysIn(await call('get_workspace_context', { keys: ['c', 'secret', '"]]>', 'c'] }))).toEqual([
      ['workspace_entry', 'c'],
      ['missing_dependency', '"]]>'],
    ]);
    expect(keysIn(await call('get_workspace_context', { keys: [] }))).toEqual([]);
    expect(keysIn(await bench().call('get_workspace_context'))).toEqual([]);
  });

  it('keeps to the budget that the configuration sets now, whatever the model says', async () => {
    const { call, workspace, backend } = bench({ dependencies });
    const name = ['workspace', 'config', 'context_budgets.json'];
    const list = Array.from({ length: 500 }, (_, n) => n);
    await workspace.write('a', list, { agent: 'maker' });
    expect(JSON.parse(parseStrictXml(String(await call('get_workspace_context'))).children[0]!.text)).toEqual(
      list,
    );
    await backend.documents.write(name, { reader: { workspace_total_tokens: 100 } });
    for (const args of [{}, { keys: ['a'] }, { keys: ['a'], budget: { total: 9_999 } }] as JsonObject[])
      expect(await call('get_workspace_context', args)).toMatch(/more items left out/);
    await backend.documents.write(name, { reader: { per_key_limits: { a: 0 } }, other: {} });
    expect(keysIn(await call('get_workspace_context', { keys: ['a'] }))).toEqual([
      ['budget_exceeded', undefined],
    ]);
  });

  it('fails with the place where the configuration is not what it should be', async () => {
    const { call, backend } = bench();
    const name = ['workspace', 'config', 'context_budgets.json'];
    await backend.documents.writeBytes(name, Buffer.from('{\n  "reader": {"workspace_total_tokens": -1}\n}'));
    await expect(call('get_workspace_context')).rejects.toMatchObject({
      code: 'DOCUMENT_DAMAGED',
      details: { line: 2, column: 40 },
    });
  });
});

describe('get_recent_tool_calls', () => {
  const entry = { turnId: 't1', input: { q: 'Needle' }, error: null, startedMs: 1_000, durationMs: 2 };

  it('finds calls of everybody, or those that are asked for, newest first', async () => {
    const { call, log } = bench();
    await log.record({ ...entry, callId: '1', tool: 'search', agent: 'reader', output: [1] });
    await log.record({
      ...entry,
      callId: '2',
      tool: 'search',
      agent: 'other',
      output: null,
      error: 'it broke',
    });
    await log.record({
      ...entry,
      callId: '3',
      tool: 'fetch',
      agent: 'reader',
      input: {},
      output: 'x'.repeat(9_000),
    });
    const tools = async (args: JsonObject = {}) =>
      ((await call('get_recent_tool_calls', args)) as JsonObject[]).map(
        ({ tool, agent }) => `${tool} ${agent}`,
      );
    expect(await tools()).toEqual(['fetch reader', 'search other', 'search reader']);
    expect(await tools({ limit: 1 })).toEqual(['fetch reader']);
    expect(await tools({ mine: true })).toEqual(['fetch reader', 'search reader']);
    expect(await tools({ mine: false, tool_name: 'search' })).toEqual(['search other', 'search reader']);
    expect(await tools({ status: 'error' })).toEqual(['search other']);
    expect(await tools({ text: 'needle', status: 'ok' })).toEqual(['search reader']);
    expect(await tools({ tool_name: '__proto__' })).toEqual([]);
  });

  it('tells inputs, outputs and errors, and references to what is large', async () => {
    const { call, log } = bench();
    await log.record({ ...entry, callId: '1', tool: 'search', agent: 'a', output: null });
    await log.record({ ...entry, callId: '2', tool: 'search', agent: 'a', output: null, error: '' });
    await log.record({ ...entry, callId: '3', tool: 'search', agent: 'a', output: 'x'.repeat(9_000) });
    const started = { tool: 'search', agent: 'a', started_at: '1970-01-01T00:00:01.000Z', duration_ms: 2 };
    expect(await call('get_recent_tool_calls')).toEqual([
      { ...started, input: { q: 'Needle' }, output_ref: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
      { ...started, input: { q: 'Needle' }, error: '' },
      { ...started, input: { q: 'Needle' }, output: null },
    ]);
  });
});

describe('the tools of a workspace in an agent', () => {
  const write = (value: JsonObject): ScriptedCall => ({ name: 'write_to_workspace', arguments: value });

  it('write in the name of the harness; a call that names another writer is refused and writes nothing', async () => {
    const given = bench();
    const seen = await conversation(given, [
      write({ key: 'a', value: 1, agent: 'boss' }),
      write({ key: 'a', value: { ok: true } }),
    ]);
    expect(seen).toEqual([expect.stringMatching(/^error: .*schema/), 'result: {"key":"a","version":1}']);
    expect(await given.workspace.history('a')).toMatchObject([{ version: 1, writtenBy: 'reader' }]);
  });

  it('give the model their results and their errors, and read what is there at that time', async () => {
    const given = bench({ dependencies: { required: ['b'] } });
    await given.workspace.write('b', ['</workspace_entry>'], { agent: 'maker' });
    const read: ScriptedCall = { name: 'read_from_workspace', arguments: { key: 'a' } };
    const seen = await conversation(given, [
      read,
      write({ key: 'a', value: [1] }),
      read,
      { name: 'get_workspace_summary', arguments: {} },
      { name: 'get_workspace_context', arguments: {} },
    ]);
    expect(seen[0]).toBe('error: There is no entry "a". There are: b.');
    expect(seen.slice(1, 4)).toEqual([
      'result: {"key":"a","version":1}',
      expect.stringContaining('"value":[1]'),
      expect.stringContaining('- a: list of 1 item (version 1, by reader)'),
    ]);
    const block = parseStrictXml(JSON.parse(seen[4]!.replace('result: ', '')) as string);
    expect(JSON.parse(block.children[0]!.text)).toEqual(['</workspace_entry>']);
  });
});
