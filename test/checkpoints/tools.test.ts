import { describe, expect, it } from 'vitest';
import type { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import type { CheckpointScope } from '../../src/checkpoints/tools/checkpoint-scope.js';
import { checkpointTools } from '../../src/checkpoints/tools/checkpoint-tools.js';
import type { JsonObject } from '../../src/core/json.js';
import { compileSchema } from '../../src/core/schema-check.js';
import type { ToolDefinition } from '../../src/core/tool-definition.js';
import { errorOf, Place } from './checkpoint-kit.js';

const NAMES = [
  'workflow_checkpoint_save',
  'workflow_checkpoint_load',
  'workflow_checkpoint_list',
  'workflow_mark_critical',
] as const;
type ToolName = (typeof NAMES)[number];

const CALL = { callId: 'c', turnId: 't', idempotencyKey: 'k', signal: new AbortController().signal };

/** Of all sessions, so that ids are the same on both sides. */
function toolsOf(service: CheckpointService, agentId?: string, scope: CheckpointScope = 'all') {
  const options = { scope, ...(agentId === undefined ? {} : { agentId }) };
  const tools = new Map(checkpointTools(service, options).map((tool) => [tool.name, tool]));
  return (name: ToolName): ToolDefinition => tools.get(name)!;
}

/** As the agent loop calls them: what does not fit the schema does not come to the tool. */
async function call(tool: ToolDefinition, args: JsonObject): Promise<unknown> {
  const check = compileSchema(tool.inputSchema);
  expect(check(args), JSON.stringify(args)).toBe(true);
  return tool.execute(args, CALL);
}

describe('the tools of checkpoints', () => {
  it('are four, each described, with a schema that takes nothing else; reading may be repeated', async () => {
    const tools = checkpointTools((await Place.make()).service(), { scope: 'all' });
    expect(tools.map(({ name }) => name)).toEqual(NAMES);
    for (const { description, inputSchema } of tools) {
      expect(description.length).toBeGreaterThan(20);
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      for (const property of Object.values(inputSchema['properties'] as JsonObject))
        expect((property as JsonObject)['description']).toBeTypeOf('string');
    }
    expect(tools.map(({ idempotent }) => idempotent ?? false)).toEqual([false, true, true, false]);
  });

  it.each<[ToolName, JsonObject, boolean]>([
    ['workflow_checkpoint_save', { context: {} }, true],
    [
      'workflow_checkpoint_save',
      { context: {}, sessionId: 's', metadata: { name: 'n', tags: ['t'] }, force: true },
      true,
    ],
    ['workflow_checkpoint_save', {}, false],
    ['workflow_checkpoint_save', { context: [] }, false],
    ['workflow_checkpoint_save', { context: 'text' }, false],
    ['workflow_checkpoint_save', { context: {}, force: 'yes' }, false],
    ['workflow_checkpoint_save', { context: {}, metadata: { tags: 't' } }, false],
    ['workflow_checkpoint_save', { context: {}, other: 1 }, false],
    ['workflow_checkpoint_load', { checkpointId: 's@1' }, true],
    ['workflow_checkpoint_load', { sessionId: 's' }, true],
    ['workflow_checkpoint_load', {}, false],
    ['workflow_checkpoint_load', { checkpointId: 's@1', sessionId: 's' }, false],
    ['workflow_checkpoint_list', { sessionId: 's' }, true],
    ['workflow_checkpoint_list', { sessionId: 's', limit: 100, offset: 0 }, true],
    ['workflow_checkpoint_list', {}, false],
    ['workflow_checkpoint_list', { sessionId: 's', limit: 0 }, false],
    ['workflow_checkpoint_list', { sessionId: 's', limit: 101 }, false],
    ['workflow_checkpoint_list', { sessionId: 's', offset: -1 }, false],
    ['workflow_mark_critical', { sessionId: 's', contextKey: 'goal' }, true],
    ['workflow_mark_critical', { sessionId: 's' }, false],
    ['workflow_mark_critical', { contextKey: 'goal' }, false],
  ])('%s takes %j: %s', async (name, args, fits) => {
    const { inputSchema } = toolsOf((await Place.make()).service())(name);
    expect(compileSchema(inputSchema)(args)).toBe(fits);
  });

  it('save a context and give its id, its session and its sizes; the agent is noted', async () => {
    const service = (await Place.make()).service({ config: { storage: { maxCheckpoints: 2 } } });
    const save = toolsOf(service, 'agent')('workflow_checkpoint_save');
    const metadata = { name: 'first', tags: ['t'] };
    const first = await call(save, { context: { n: 1 }, metadata });
    expect(first).toEqual({
      status: 'SAVED',
      checkpointId: expect.stringMatching(/^session_[0-9a-f]{32}@1$/) as string,
      sessionId: expect.stringMatching(/^session_/) as string,
      contextSizeBytes: 7,
      storedBytes: expect.any(Number) as number,
      removed: [],
      warnings: [],
    });
    const { sessionId } = first as { sessionId: string };
    const info = await service.metadata({ sessionId });
    expect(info).toMatchObject({ agentId: 'agent', name: 'first', tags: ['t'] });
    expect(await call(save, { context: { n: 1 }, sessionId })).toMatchObject({ status: 'SKIPPED_UNCHANGED' });
    const forced = await call(save, { context: { n: 1 }, sessionId, force: true });
    expect(forced).toMatchObject({ status: 'SAVED', checkpointId: `${sessionId}@2` });
    const third = await call(save, { context: { n: 3 }, sessionId });
    expect(third).toMatchObject({ removed: [`${sessionId}@1`] });
    expect(JSON.parse(JSON.stringify(third))).toEqual(third);
  });

  it('load exactly what was saved, by both ids', async () => {
    const service = (await Place.make()).service();
    const [save, load] = (['workflow_checkpoint_save', 'workflow_checkpoint_load'] as const).map(
      toolsOf(service),
    );
    await call(save!, { sessionId: 's', context: { temperature: 1, n: 1 } });
    await call(save!, { sessionId: 's', context: { temperature: 1, n: 2 } });
    expect(await call(load!, { checkpointId: 's@1' })).toMatchObject({
      context: { temperature: 1, n: 1 },
      metadata: { id: 's@1', sessionId: 's', agentId: null },
    });
    const newest = (await call(load!, { sessionId: 's' })) as { context: JsonObject };
    expect(newest.context).toEqual({ temperature: 1, n: 2 });
  });

  it('list without contexts, newest first, by pages', async () => {
    const service = (await Place.make()).service();
    const list = toolsOf(service)('workflow_checkpoint_list');
    for (let n = 1; n <= 22; n += 1)
      await service.save({ sessionId: 's', context: { secret: `value ${n}` } });
    const page = (await call(list, { sessionId: 's' })) as { checkpoints: { id: string }[]; total: number };
    expect([page.total, page.checkpoints.length, page.checkpoints[0]!.id]).toEqual([22, 20, 's@22']);
    expect(JSON.stringify(page)).not.toContain('value ');
    const next = (await call(list, { sessionId: 's', limit: 20, offset: 20 })) as typeof page;
    expect(next.checkpoints.map(({ id }) => id)).toEqual(['s@2', 's@1']);
  });

  it('mark a key as critical, and tell all that are', async () => {
    const service = (await Place.make()).service();
    const mark = toolsOf(service)('workflow_mark_critical');
    await service.save({ sessionId: 's', context: { goal: 1, zeta: 2 } });
    expect(await call(mark, { sessionId: 's', contextKey: 'zeta' })).toEqual({
      sessionId: 's',
      contextKey: 'zeta',
      criticalKeys: ['zeta'],
    });
    const both = { criticalKeys: ['goal', 'zeta'] };
    expect(await call(mark, { sessionId: 's', contextKey: 'goal' })).toMatchObject(both);
    expect(await call(mark, { sessionId: 's', contextKey: 'goal' })).toMatchObject(both);
  });

  it.each<[ToolName, JsonObject, string]>([
    ['workflow_checkpoint_load', { checkpointId: 's@9' }, 'CHECKPOINT_NOT_FOUND'],
    ['workflow_checkpoint_load', { checkpointId: '../x' }, 'CHECKPOINT_NOT_FOUND'],
    ['workflow_checkpoint_load', { sessionId: 'none' }, 'SESSION_NOT_FOUND'],
    ['workflow_checkpoint_load', { sessionId: '../x' }, 'INVALID_NAME'],
    ['workflow_checkpoint_list', { sessionId: 'none' }, 'SESSION_NOT_FOUND'],
    ['workflow_checkpoint_list', { sessionId: 's', limit: 1.5 }, 'INVALID_ARGUMENT'],
    ['workflow_mark_critical', { sessionId: 'none', contextKey: 'a' }, 'SESSION_NOT_FOUND'],
    ['workflow_mark_critical', { sessionId: 's', contextKey: '' }, 'INVALID_ARGUMENT'],
    ['workflow_mark_critical', { sessionId: 's', contextKey: 'b' }, 'INVALID_ARGUMENT'],
    ['workflow_mark_critical', { sessionId: 's', contextKey: '__proto__' }, 'INVALID_ARGUMENT'],
    ['workflow_checkpoint_save', { sessionId: '..', context: {} }, 'INVALID_NAME'],
    [
      'workflow_checkpoint_save',
      { sessionId: 's', context: {}, metadata: { name: 'a\nb' } },
      'INVALID_ARGUMENT',
    ],
  ])('%s fails for %j with %s', async (name, args, code) => {
    const service = (await Place.make()).service();
    await service.save({ sessionId: 's', context: { a: 1 } });
    expect((await errorOf(call(toolsOf(service)(name), args))).code).toBe(code);
  });
});

describe('a default session', () => {
  it('is used by every tool that is called without one; their schemas say so', async () => {
    const service = (await Place.make()).service();
    const list = checkpointTools(service, { scope: { agent: 'desk' }, session: 'shift' });
    const tool = (name: ToolName) => list.find((one) => one.name === name)!;
    for (const { inputSchema } of list) expect(JSON.stringify(inputSchema)).toContain('\\"shift\\"');
    expect(await call(tool('workflow_checkpoint_save'), { context: { goal: 1 } })).toMatchObject({
      checkpointId: 'shift@1',
      sessionId: 'shift',
    });
    expect(await call(tool('workflow_checkpoint_load'), {})).toMatchObject({ context: { goal: 1 } });
    expect(await call(tool('workflow_checkpoint_list'), {})).toMatchObject({ total: 1 });
    expect(await call(tool('workflow_mark_critical'), { contextKey: 'goal' })).toMatchObject({
      ...{ sessionId: 'shift', criticalKeys: ['goal'] },
    });
    const both = { checkpointId: 'shift@1', sessionId: 'shift' };
    expect((await errorOf(call(tool('workflow_checkpoint_load'), both))).code).toBe('INVALID_ARGUMENT');
  });
});

describe('the tools of one owner', () => {
  it.each<CheckpointScope>([{ agent: 'ada' }, { session: 'child' }, { client: 'mcp' }])(
    'reach what %j saved, under the names that the model gave, and nothing else',
    async (scope) => {
      const service = (await Place.make()).service();
      const own = toolsOf(service, undefined, scope);
      const saved = await call(own('workflow_checkpoint_save'), { sessionId: 's', context: { a: 1 } });
      expect(saved).toMatchObject({ checkpointId: 's@1', sessionId: 's' });
      expect(await call(own('workflow_checkpoint_load'), { sessionId: 's' })).toMatchObject({
        context: { a: 1 },
        metadata: { id: 's@1', sessionId: 's' },
      });
      expect(await call(own('workflow_checkpoint_list'), { sessionId: 's' })).toMatchObject({
        checkpoints: [{ id: 's@1' }],
        total: 1,
      });
      expect(await call(own('workflow_mark_critical'), { sessionId: 's', contextKey: 'a' })).toMatchObject({
        sessionId: 's',
        criticalKeys: ['a'],
      });
      await service.save({ sessionId: 'host', context: { secret: 1 } });
      for (const other of [{ agent: 'bob' }, { agent: 'ada:s' }, { session: 'ada' }, { client: 'x' }]) {
        const others = toolsOf(service, undefined, other);
        for (const sessionId of ['s', 'host', 'agent:ada:s', ':s', 'ada:s']) {
          const code = 'SESSION_NOT_FOUND';
          const load = others('workflow_checkpoint_load');
          expect((await errorOf(call(load, { sessionId }))).code).toBe(code);
          expect((await errorOf(call(others('workflow_checkpoint_list'), { sessionId }))).code).toBe(code);
          const mark = { sessionId, contextKey: 'a' };
          expect((await errorOf(call(others('workflow_mark_critical'), mark))).code).toBe(code);
          expect(await errorOf(call(load, { checkpointId: `${sessionId}@1` }))).toMatchObject({
            code: 'CHECKPOINT_NOT_FOUND',
            details: { checkpointId: `${sessionId}@1` },
          });
        }
      }
    },
  );

  it.each<CheckpointScope>(['all', { agent: 'ada' }])(
    'neither read, list nor mark whole agents, and what they save is never one: %j',
    async (scope) => {
      const service = (await Place.make()).service();
      const own = toolsOf(service, 'ada', scope);
      const sessionId = scope === 'all' ? 'ada' : 'agent:ada:ada';
      const image = { format: 'rekindle-agent', messages: ['secret'] };
      await service.saveAgent({ sessionId, context: image, agentId: 'ada' });
      const load = own('workflow_checkpoint_load');
      const args = { sessionId: 'ada' };
      expect((await errorOf(call(load, { checkpointId: 'ada@1' }))).code).toBe('CHECKPOINT_NOT_FOUND');
      expect((await errorOf(call(load, args))).code).toBe('CHECKPOINT_NOT_FOUND');
      expect(await call(own('workflow_checkpoint_list'), args)).toMatchObject({ checkpoints: [], total: 0 });
      const mark = { ...args, contextKey: 'messages' };
      expect((await errorOf(call(own('workflow_mark_critical'), mark))).code).toBe('CHECKPOINT_NOT_FOUND');
      await call(own('workflow_checkpoint_save'), { ...args, context: { ...image, kind: 'agent' } });
      expect((await service.metadata({ sessionId })).kind).toBeNull();
    },
  );

  it('push out only what the same owner saved', async () => {
    const service = (await Place.make()).service({ config: { storage: { maxCheckpoints: 3 } } });
    const sessionId = 'desk';
    await service.saveAgent({ sessionId, context: { whole: 'agent' }, agentId: 'desk' });
    await service.save({ sessionId, context: { n: 0 }, agentId: 'desk' });
    const save = toolsOf(service, 'intruder')('workflow_checkpoint_save');
    for (let n = 1; n <= 9; n += 1) await call(save, { sessionId, context: { n } });
    const { checkpoints } = await service.list({ sessionId });
    expect(checkpoints.map(({ number }) => number)).toEqual([11, 10, 9, 2, 1]);
  });
});

describe('a whole agent', () => {
  it('is saved by its own method only', async () => {
    const service = (await Place.make()).service();
    const saving = service.save({ context: { a: 1 }, kind: 'agent' });
    expect(await errorOf(saving)).toMatchObject({ code: 'INVALID_ARGUMENT', details: { field: 'kind' } });
    const saved = await service.saveAgent({ context: { a: 1 } });
    expect(saved.metadata.kind).toBe('agent');
  });
});
