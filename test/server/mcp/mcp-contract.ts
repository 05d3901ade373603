/** What holds for the tools over every transport. */
import { ProtocolError } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject } from '../../../src/core/json.js';
import { CHECKPOINT_TOOLS, checkpointContract } from './checkpoint-contract.js';
import {
  AGENT_ID,
  type Caller,
  call,
  connected,
  type Door,
  errorOf,
  McpWorld,
  OTHER_ROOT,
  propertyNames,
  result,
  SESSION_A,
  SESSION_B,
} from './mcp-kit.js';
import { MEMORY_TOOLS, memoryContract } from './memory-contract.js';

const STATE_TOOLS = [
  'state_append',
  'state_delete',
  'state_get',
  'state_increment',
  'state_patch',
  'state_set',
];
const WORKSPACE_TOOLS = [
  'get_recent_tool_calls',
  'get_workspace_context',
  'get_workspace_summary',
  'read_from_workspace',
  'write_to_workspace',
];
/** For every caller: these tools belong to no session and to no agent. */
const TOOLS_OF_ALL = [...WORKSPACE_TOOLS, ...CHECKPOINT_TOOLS];
/** Whose memory and state it is, is never said by the model. */
const FORBIDDEN = /^(root|session|agent)(_?(session|id))*$|^(by|caller|author|written_?by)$/i;
/**
 * The `sessionId` of these tools is another thing: the name of a workflow, under which its checkpoints are kept. Callers choose it, and
 * it opens the memory and the state of nobody.
 */
const NAMES_A_WORKFLOW: ReadonlySet<string> = new Set(CHECKPOINT_TOOLS);

export function mcpContract(open: (world: McpWorld) => Promise<Door>): void {
  let world: McpWorld;
  let door: Door;

  beforeAll(async () => {
    world = await McpWorld.make();
    door = await open(world);
  });
  afterAll(async () => {
    await world.close();
    await door.close();
  });

  const client = (caller: Caller = { session: SESSION_A }) => world.client(door, caller);
  const namesFor = async (caller: Caller): Promise<string[]> =>
    (await (await client(caller)).listTools()).tools.map(({ name }) => name).sort();

  describe('the list of tools', () => {
    it('has those of the state, the workspace, checkpoints and the memory for the session of an agent', async () => {
      expect(await namesFor({ session: SESSION_A })).toEqual(
        [...STATE_TOOLS, ...TOOLS_OF_ALL, ...MEMORY_TOOLS].sort(),
      );
    });

    it('has no state without a session, and no memory without an agent', async () => {
      expect(await namesFor({})).toEqual(TOOLS_OF_ALL.toSorted());
      expect(await namesFor({ session: SESSION_B })).toEqual([...STATE_TOOLS, ...TOOLS_OF_ALL].sort());
      expect(await namesFor({ agent: AGENT_ID })).toEqual([...TOOLS_OF_ALL, ...MEMORY_TOOLS].sort());
    });

    it('has strict schemas, and no parameter that names a root, a session or an agent', async () => {
      for (const name of [
        'root',
        'root_session_id',
        'session',
        'sessionId',
        'session_id',
        'agent',
        'agent_id',
      ])
        expect(name).toMatch(FORBIDDEN);
      const { tools } = await (await client()).listTools();
      for (const { name, description, inputSchema } of tools) {
        expect(inputSchema, name).toMatchObject({ type: 'object', additionalProperties: false });
        expect(description, name).toMatch(/\.$/);
        const schema = structuredClone(inputSchema) as Parameters<typeof propertyNames>[0];
        const named = propertyNames(schema).filter((property) => FORBIDDEN.test(property));
        expect(named, name).toEqual(NAMES_A_WORKFLOW.has(name) ? ['sessionId'] : []);
      }
    });

    it('says which tools only read', async () => {
      const { tools } = await (await client()).listTools();
      const writing = tools.filter(({ annotations }) => annotations?.readOnlyHint !== true);
      expect(writing.map(({ name }) => name).sort()).toEqual([
        'forget',
        'pin',
        'remember',
        'state_append',
        'state_delete',
        'state_increment',
        'state_patch',
        'state_set',
        'workflow_checkpoint_save',
        'workflow_mark_critical',
        'write_to_workspace',
      ]);
    });

    it('is the same for a client of the revision of 2026', async () => {
      const modern = await connected(door.transport({ session: SESSION_A }), 'auto');
      expect(modern.getProtocolEra()).toBe('modern');
      expect((await modern.listTools()).tools).toEqual((await (await client()).listTools()).tools);
      expect(await result(modern, 'state_set', { key: 'modern', value: 1 })).toMatchObject({ version: 1 });
      await modern.close();
    });
  });

  describe('the tools of the state', () => {
    it('set, read, count, append and delete, in the name of the session', async () => {
      const own = await client();
      const by = { updated_by: SESSION_A };
      expect(await result(own, 'state_get', { key: 'a' })).toEqual({ found: false, key: 'a' });
      const set = await result(own, 'state_set', { key: 'a', value: { deep: [null, 'ü'] } });
      expect(set).toMatchObject({ key: 'a', value: { deep: [null, 'ü'] }, version: 1, ...by });
      expect(await result(own, 'state_get', { key: 'a' })).toEqual({ found: true, ...set });
      expect(await result(own, 'state_increment', { key: 'n' })).toMatchObject({ value: 1, ...by });
      expect(await result(own, 'state_increment', { key: 'n', delta: -3 })).toMatchObject({ value: -2 });
      expect(await result(own, 'state_append', { key: 'list', items: [1, 'x'] })).toMatchObject({
        length: 2,
      });
      expect(await result(own, 'state_delete', { key: 'a' })).toEqual({ key: 'a', deleted: true });
      expect(await result(own, 'state_delete', { key: 'a' })).toEqual({ key: 'a', deleted: false });
      const state = await world.shared.stateOf('root');
      const keys = new Set(['a', 'n', 'list']);
      const changes = (await state.changesSince(0)).filter(({ key }) => keys.has(key));
      expect(changes.map(({ op }) => op)).toEqual(['set', 'increment', 'increment', 'append', 'delete']);
      expect(new Set(changes.map((change) => change.by))).toEqual(new Set([SESSION_A]));
    });

    it('patch several keys at once, only while nothing has changed since, in the name of the session', async () => {
      const own = await client();
      await result(own, 'state_set', { key: 'patched', value: { a: 1, b: 2 } });
      await result(own, 'state_set', { key: 'dropped', value: 1 });
      const global_version = Number((await result(own, 'state_get'))['global_version']);
      const patch = { patched: { b: null, c: 3 }, dropped: null };
      const done = await result(own, 'state_patch', { patch, global_version });
      expect(done).toMatchObject({
        keys: [
          { key: 'patched', version: 2 },
          { key: 'dropped', version: 0 },
        ],
      });
      expect(await result(own, 'state_get', { key: 'patched' })).toMatchObject({
        value: { a: 1, c: 3 },
        updated_by: SESSION_A,
      });
      expect(await errorOf(own, 'state_patch', { patch, global_version: 0 })).toMatchObject({
        code: 'DOCUMENT_CONFLICT',
        details: { currentVersion: done['global_version'] },
      });
    });

    it('show the clients of two sessions of one root the changes of each other', async () => {
      const [a, b] = [await client(), await client({ session: SESSION_B })];
      await result(a, 'state_set', { key: 'both', value: 'from a' });
      expect(await result(b, 'state_get', { key: 'both' })).toMatchObject({ value: 'from a', version: 1 });
      await result(b, 'state_set', { key: 'both', value: 'from b', version: 1 });
      expect(await result(a, 'state_get', { key: 'both' })).toMatchObject({
        value: 'from b',
        version: 2,
        updated_by: SESSION_B,
      });
    });

    it('lose nothing of ten increments at once', async () => {
      const both = [await client(), await client({ session: SESSION_B })];
      const key = 'ten';
      const calls = Array.from({ length: 5 }, () =>
        both.map((one) => result(one, 'state_increment', { key })),
      );
      const versions = (await Promise.all(calls.flat())).map(({ version }) => Number(version));
      expect(versions.sort((x, y) => x - y)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect(await result(await client(), 'state_get', { key })).toMatchObject({ value: 10, version: 10 });
    });

    it('refuse an old version, and tell the current one with its value', async () => {
      const own = await client();
      await result(own, 'state_set', { key: 'taken', value: 'by now' });
      for (const [name, rest] of [
        ['state_set', { value: 2 }],
        ['state_delete', {}],
      ] as const) {
        expect(await errorOf(own, name, { key: 'taken', version: 7, ...rest })).toMatchObject({
          code: 'DOCUMENT_CONFLICT',
          details: { currentVersion: 1, currentValue: 'by now' },
        });
      }
    });

    it('tell the current version and value in the text of a conflict too', async () => {
      const own = await client();
      await result(own, 'state_set', { key: 'shown', value: 'the other value' });
      const { text } = await call(own, 'state_set', { key: 'shown', value: 2, version: 7 });
      expect(text).toContain('the other value');
    });

    it('refuse a wrong type and a value that is too large', async () => {
      const own = await client();
      await result(own, 'state_set', { key: 'text', value: 'x' });
      expect(await errorOf(own, 'state_increment', { key: 'text' })).toMatchObject({ code: 'TYPE_MISMATCH' });
      expect(await errorOf(own, 'state_append', { key: 'text', items: [1] })).toMatchObject({
        code: 'TYPE_MISMATCH',
      });
      const large = { key: 'large', value: 'x'.repeat(300 * 1024) };
      expect(await errorOf(own, 'state_set', large)).toMatchObject({
        code: 'LIMIT_EXCEEDED',
        details: { limit: 'valueBytes' },
      });
      expect(await result(own, 'state_get', { key: 'large' })).toMatchObject({ found: false });
    });
  });

  describe('a result', () => {
    it.each([
      ['an extra property', 'state_set', { key: 'a', value: 1, session: SESSION_B }, 'session'],
      ['an extra property of a tool without any', 'get_workspace_summary', { agent: 'x' }, 'agent'],
      ['a missing property', 'state_set', { key: 'a' }, 'value'],
      ['a wrong type', 'state_get', { key: 5 }, 'key'],
      ['a number out of range', 'memory_search', { query: 'x', limit: 51 }, 'limit'],
    ] as const)('is a tool error with a code for %s', async (_what, name, args, named) => {
      const error = await errorOf(await client(), name, { ...args });
      expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', advice: expect.any(String) });
      expect(error['message']).toContain(named);
    });

    it('has its JSON as text too, and an error its code and message', async () => {
      const own = await client();
      const worked = await call(own, 'state_set', { key: 'texts', value: [1] });
      expect(JSON.parse(worked.text)).toEqual(worked.structured);
      const list = await call(own, 'get_recent_tool_calls');
      expect({ result: JSON.parse(list.text) }).toEqual(list.structured);
      const refused = await call(own, 'state_increment', { key: 'texts' });
      const { error } = refused.structured;
      if (!isJsonObject(error)) throw new TypeError('no error');
      expect(refused.text).toBe(`${String(error['code'])}: ${String(error['message'])}`);
    });

    it('is a protocol error for a tool that is not there', async () => {
      const asked = (await client({})).callTool({ name: 'state_get', arguments: {} });
      await expect(asked).rejects.toBeInstanceOf(ProtocolError);
      await expect(asked).rejects.toMatchObject({ code: -32602 });
    });
  });

  describe('the tools of the workspace', () => {
    it('write in the name of the agent, and read what others wrote', async () => {
      const [a, b] = [await client(), await client({ session: SESSION_B })];
      expect(await result(a, 'write_to_workspace', { key: 'plan', value: { step: 1 } })).toMatchObject({
        version: 1,
      });
      expect(await result(b, 'write_to_workspace', { key: 'plan', value: { step: 2 } })).toMatchObject({
        version: 2,
      });
      const newest = await result(a, 'read_from_workspace', { key: 'plan' });
      expect(newest).toMatchObject({ version: 2, written_by: SESSION_B, value: { step: 2 } });
      const first = await result(b, 'read_from_workspace', { key: 'plan', version: 1 });
      expect(first).toMatchObject({ version: 1, written_by: AGENT_ID, value: { step: 1 } });
      expect((await call(a, 'get_workspace_summary')).text).toContain('plan');
      expect((await call(a, 'get_workspace_context', { keys: ['plan'] })).text).toContain('{"step":2}');
    });

    it('neither show nor change the workspace and the calls of another root, of an agent, or of the store', async () => {
      const callers = [
        await client(),
        await client({ session: OTHER_ROOT }),
        await client({ agent: AGENT_ID }),
        await client({}),
      ];
      for (const [n, own] of callers.entries())
        expect(await result(own, 'write_to_workspace', { key: 'whose', value: n })).toMatchObject({
          version: 1,
        });
      for (const [n, own] of callers.entries()) {
        expect(await result(own, 'read_from_workspace', { key: 'whose' })).toMatchObject({ value: n });
        expect((await call(own, 'get_workspace_context', { keys: ['whose'] })).text).toContain(`\n${n}\n`);
      }
    });

    it('show the calls that were made in the sessions of their root, or by their agent, and no others', async () => {
      const callers = [
        await client({ session: SESSION_B }),
        await client({ session: OTHER_ROOT }),
        await client({ agent: AGENT_ID }),
        await client({}),
      ];
      const seen = await Promise.all(
        callers.map(async (own) => {
          const { result: calls } = await result(own, 'get_recent_tool_calls', { text: 'logged' });
          return (calls as { input: unknown }[]).map(({ input }) => input);
        }),
      );
      expect(seen).toEqual([['logged in child_b'], ['logged in other'], ['logged by ada'], []]);
    });

    it('show the notes of their own agent when they are asked for by name', async () => {
      const own = await client();
      await result(own, 'write_to_workspace', { key: 'my notes', value: 'remember' });
      expect((await call(own, 'get_workspace_context', { keys: ['my notes'] })).text).toContain('remember');
      const nobody = await client({});
      await result(nobody, 'write_to_workspace', { key: 'anyone', value: 'said by anyone' });
      expect((await call(nobody, 'get_workspace_context')).text).toContain('said by anyone');
    });

    it('say what is there when an entry is not', async () => {
      const own = await client();
      await result(own, 'write_to_workspace', { key: 'there', value: 1 });
      const error = await errorOf(own, 'read_from_workspace', { key: 'nowhere' });
      expect(error).toMatchObject({ code: 'ENTRY_NOT_FOUND' });
      expect(error['message']).toContain('there');
    });
  });

  checkpointContract(client);

  memoryContract(client, () => world.dir);
}
