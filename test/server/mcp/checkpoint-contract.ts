/** What holds for the tools of checkpoints over every transport. */
import { hash } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { JSON_DEPTH_MAX } from '../../../src/core/limits.js';
import { AGENT_ID, type Caller, errorOf, propertyNames, result, SESSION_A, SESSION_B } from './mcp-kit.js';

export const CHECKPOINT_TOOLS = [
  'workflow_checkpoint_list',
  'workflow_checkpoint_load',
  'workflow_checkpoint_save',
  'workflow_mark_critical',
] as const;
type ToolName = (typeof CHECKPOINT_TOOLS)[number];

const SAVE = 'workflow_checkpoint_save';
const LOAD = 'workflow_checkpoint_load';
const LIST = 'workflow_checkpoint_list';
const MARK = 'workflow_mark_critical';

/** Text that does not get smaller, always the same: four letters hold three bytes. */
export function noise(seed: string, kilobytes: number): string[] {
  const line = (_: unknown, index: number) => hash('sha512', `${seed} ${index}`, 'base64');
  return Array.from({ length: Math.ceil((kilobytes * 1000) / 91) }, line);
}

/** What `load` gives, with its keys in their order. */
async function loadedText(client: Client, args: JsonObject): Promise<string> {
  return JSON.stringify((await result(client, LOAD, args))['context']);
}

export function checkpointContract(client: (caller?: Caller) => Promise<Client>): void {
  describe('the tools of checkpoints', () => {
    it('save a context, list it, load it, mark a key of it and save what came later', async () => {
      const own = await client();
      const context = { goal: 'ship', step: 1, notes: ['ü', null, { deep: [0.1, -1e-7, ''] }] };
      const metadata = { name: 'first', tags: ['t'] };
      const saved = await result(own, SAVE, { context, metadata });
      const sessionId = String(saved['sessionId']);
      expect(saved).toEqual({
        status: 'SAVED',
        checkpointId: `${sessionId}@1`,
        sessionId: SESSION_A,
        contextSizeBytes: Buffer.byteLength(JSON.stringify(context)),
        storedBytes: expect.any(Number),
        removed: [],
        warnings: [],
      });
      const page = await result(own, LIST, { sessionId });
      const listed = { id: `${sessionId}@1`, sessionId, number: 1, name: 'first', tags: ['t'] };
      expect(page).toMatchObject({ total: 1, checkpoints: [{ ...listed, agentId: AGENT_ID }] });
      expect(JSON.stringify(page)).not.toContain('ship');
      expect(await result(own, LOAD, { checkpointId: `${sessionId}@1` })).toMatchObject({
        context,
        metadata: listed,
      });
      const marked = await result(own, MARK, { sessionId, contextKey: 'goal' });
      expect(marked).toEqual({ sessionId, contextKey: 'goal', criticalKeys: ['goal'] });
      const later = { ...context, step: 2 };
      const second = await result(own, SAVE, { sessionId, context: later });
      expect(second).toMatchObject({ status: 'SAVED', sessionId });
      expect(second['checkpointId']).not.toBe(`${sessionId}@1`);
      expect(await result(own, LOAD, { sessionId })).toMatchObject({ context: later });
      expect(await result(own, LOAD, { checkpointId: `${sessionId}@1` })).toMatchObject({ context });
      const newest = await result(own, LIST, { sessionId, limit: 1 });
      expect(newest).toMatchObject({ total: 2, checkpoints: [{ id: second['checkpointId']! }] });
    });

    it('use the own session of the caller where none is named', async () => {
      const own = await client({ session: SESSION_B });
      const saved = await result(own, SAVE, { context: { goal: 'own' } });
      expect(saved).toMatchObject({ sessionId: SESSION_B, checkpointId: `${SESSION_B}@1` });
      expect(await result(own, LOAD, {})).toMatchObject({ context: { goal: 'own' } });
      expect(await result(own, LIST, {})).toMatchObject({ total: 1 });
      expect(await result(own, MARK, { contextKey: 'goal' })).toMatchObject({ sessionId: SESSION_B });
    });

    it('save nothing twice, unless they are told to', async () => {
      const own = await client();
      const args = { sessionId: 'twice', context: { a: 1 } };
      await result(own, SAVE, args);
      const again = await result(own, SAVE, args);
      expect(again).toMatchObject({ status: 'SKIPPED_UNCHANGED', checkpointId: 'twice@1' });
      const forced = await result(own, SAVE, { ...args, force: true });
      expect(forced).toMatchObject({ status: 'SAVED', checkpointId: 'twice@2' });
    });

    it('show no caller what another one saved, whatever name it gives', async () => {
      const callers = [await client(), await client({ session: SESSION_B }), await client({})];
      for (const [n, own] of callers.entries())
        expect(await result(own, SAVE, { sessionId: 'mine', context: { n } })).toMatchObject({
          checkpointId: 'mine@1',
        });
      for (const [n, own] of callers.entries()) {
        expect(await result(own, LOAD, { sessionId: 'mine' })).toMatchObject({ context: { n } });
        expect(await result(own, LIST, { sessionId: 'mine' })).toMatchObject({ total: 1 });
        for (const sessionId of [`agent:${AGENT_ID}:mine`, `session:${SESSION_B}:mine`, 'client:mcp:mine'])
          expect((await errorOf(own, LOAD, { sessionId }))['code']).toBe('SESSION_NOT_FOUND');
      }
    });

    it('take the id of a session for a name only: it opens no state, and the agent stays that of the caller', async () => {
      const own = await client();
      await result(own, SAVE, { sessionId: SESSION_B, context: { only: 'a name' } });
      const { checkpoints } = await result(own, LIST, { sessionId: SESSION_B });
      expect(checkpoints).toMatchObject([{ agentId: AGENT_ID }]);
      const written = await result(own, 'state_set', { key: 'whose', value: 1 });
      expect(written).toMatchObject({ updated_by: SESSION_A });
      const other = await client({});
      expect((await errorOf(other, LIST, { sessionId: SESSION_A }))['code']).toBe('SESSION_NOT_FOUND');
    });

    it('name a session of checkpoints, and say so, but no root and no agent', async () => {
      const { tools } = await (await client()).listTools();
      for (const name of CHECKPOINT_TOOLS) {
        const { inputSchema } = tools.find((tool) => tool.name === name)!;
        const schema = structuredClone(inputSchema) as JsonObject;
        expect(propertyNames(schema).filter((one) => /session|agent|root/i.test(one))).toEqual(['sessionId']);
        expect(schema).toMatchObject({ properties: { sessionId: { description: expect.any(String) } } });
      }
    });

    it.each<[string, ToolName, JsonObject, string]>([
      ['a checkpoint that is not there', LOAD, { checkpointId: 'errors@9' }, 'CHECKPOINT_NOT_FOUND'],
      ['a checkpoint of no session', LOAD, { checkpointId: 'nobody@1' }, 'CHECKPOINT_NOT_FOUND'],
      ['what is no id', LOAD, { checkpointId: '../errors' }, 'CHECKPOINT_NOT_FOUND'],
      ['a session to load that is not there', LOAD, { sessionId: 'nobody' }, 'SESSION_NOT_FOUND'],
      ['a session to list that is not there', LIST, { sessionId: 'nobody' }, 'SESSION_NOT_FOUND'],
      ['marking in no session', MARK, { sessionId: 'nobody', contextKey: 'a' }, 'SESSION_NOT_FOUND'],
      ['a session that reaches elsewhere', SAVE, { sessionId: '../x', context: {} }, 'INVALID_NAME'],
      ['both ids', LOAD, { checkpointId: 'errors@1', sessionId: 'errors' }, 'INVALID_ARGUMENT'],
      ['a context that is a list', SAVE, { context: [] }, 'INVALID_ARGUMENT'],
      ['too many at once', LIST, { sessionId: 'errors', limit: 101 }, 'INVALID_ARGUMENT'],
      ['half a number', LIST, { sessionId: 'errors', limit: 1.5 }, 'INVALID_ARGUMENT'],
    ])('refuse %s with its code', async (_what, name, args, code) => {
      const own = await client();
      await result(own, SAVE, { sessionId: 'errors', context: { a: 1 } });
      const error = await errorOf(own, name, args);
      expect(error).toMatchObject({
        code,
        message: expect.stringMatching(/\.$/),
        advice: expect.any(String),
      });
    });

    it('refuse properties that they do not know, and name them', async () => {
      const own = await client();
      const known: Record<ToolName, JsonObject> = {
        workflow_checkpoint_save: { sessionId: 'errors', context: { a: 2 } },
        workflow_checkpoint_load: { sessionId: 'errors' },
        workflow_checkpoint_list: { sessionId: 'errors' },
        workflow_mark_critical: { sessionId: 'errors', contextKey: 'a' },
      };
      for (const name of CHECKPOINT_TOOLS)
        for (const extra of ['agentId', 'kind', 'surprise']) {
          const error = await errorOf(own, name, { ...known[name], [extra]: 'x' });
          expect(error, name).toMatchObject({ code: 'INVALID_ARGUMENT' });
          expect(error['message'], name).toContain(extra);
        }
    });

    it('say how much there is room for when there is no more, and keep what was saved', async () => {
      const own = await client();
      await result(own, SAVE, { sessionId: 'full', context: { small: true } });
      const error = await errorOf(own, SAVE, {
        sessionId: 'full',
        context: { large: noise('large', 900) },
      });
      expect(error).toMatchObject({
        code: 'STORAGE_QUOTA_EXCEEDED',
        status: 413,
        advice: expect.any(String),
        details: { what: 'session bytes', currentSize: expect.any(Number), maxSize: expect.any(Number) },
      });
      expect(await loadedText(own, { sessionId: 'full' })).toBe('{"small":true}');
      expect(await result(own, LIST, { sessionId: 'full' })).toMatchObject({ total: 1 });
    });

    it('give back exactly what JSON can hold: half a character, odd keys, the order of keys', async () => {
      const own = await client();
      const text =
        '{"half":"\\ud800","\\udc00key":["x\\udfff"],"__proto__":{"toJSON":1},"b":"\\u0000\\u001b[31m\\u2028","10":1,"a":"","9":0.1}';
      const context = JSON.parse(text) as JsonObject;
      await result(own, SAVE, { sessionId: 'odd', context });
      expect(await loadedText(own, { sessionId: 'odd' })).toBe(JSON.stringify(context));
    });

    it('give back exactly what is nested as deep as a context may be', async () => {
      const own = await client();
      const nested = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`;
      const context = JSON.parse(`{"nested":${nested(JSON_DEPTH_MAX - 1)}}`) as JsonObject;
      await result(own, SAVE, { sessionId: 'deep', context });
      const isSame = (await loadedText(own, { sessionId: 'deep' })) === JSON.stringify(context);
      expect(isSame).toBe(true);
    });

    it('give back exactly what is 300 kB large', async () => {
      const own = await client();
      const context = { goal: 'go on', messages: noise('big', 300) };
      const { contextSizeBytes } = await result(own, SAVE, { sessionId: 'big', context });
      expect(contextSizeBytes).toBeGreaterThan(300_000);
      const isSame = (await loadedText(own, { checkpointId: 'big@1' })) === JSON.stringify(context);
      expect(isSame).toBe(true);
    });
  });
}
