import { describe, expect, it } from 'vitest';
import type { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
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

function toolsOf(service: CheckpointService, agentId?: string) {
  const tools = new Map(checkpointTools(service, agentId).map((tool) => [tool.name, tool]));
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
    const tools = checkpointTools((await Place.make()).service());
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
    await service.save({ sessionId: 's', context: { goal: 1 } });
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
