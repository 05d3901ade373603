/** What a host's loop hands to a tool-call log. */
import { generateText, stepCountIs } from 'ai';
import { describe, expect, it } from 'vitest';
import type { WorkingContext } from '../../../src/agent/context/working-context.js';
import type { HostCall } from '../../../src/agent/tools/run-host-call.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { ToolCallLog } from '../../../src/workspace/tool-calls/tool-call-log.js';
import { mockModel } from '../../support/mock-ai-sdk.js';
import { double, hostFixture, workTool } from './host-fixture.js';

const logged = () => new ToolCallLog(new MemoryStorage());

/** The model asks for one call of `read`. */
async function calledRead(ctx: WorkingContext): Promise<HostCall> {
  const content = [{ type: 'tool_use', id: 'x', name: 'read', input: { path: '/a' } }];
  const response = { id: 'a', type: 'message', role: 'assistant', content };
  const { toolCalls } = await ctx.recordResponse('anthropic', response);
  return toolCalls[0]!;
}

describe('the tool-call log of a host', () => {
  it('has the calls of guarded tools when endTurn resolves, also those that failed', async () => {
    const log = logged();
    const fixture = await hostFixture();
    const ctx = await fixture.open({ toolCallLog: { log, agent: 'desk', session: 's1' } });
    const turnId = await ctx.beginTurn('go');
    const calls = [1, 2].map((n) => ({ id: `c${n}`, name: 'work', input: { n } }));
    const model = mockModel([{ calls }, { text: 'Done.' }]);
    const tools = ctx.guardTools(
      workTool(({ n }) => {
        if (n === 2) throw new Error('no two');
        return { twice: 2 };
      }),
    );
    const messages = ctx.messagesFor('ai-sdk');
    const { response } = await generateText({ model, tools, messages, stopWhen: stepCountIs(3) });
    await ctx.endTurn(response.messages);
    const found = await log.search();
    expect(found.map(({ input, output, status, error }) => ({ input, output, status, error }))).toEqual(
      expect.arrayContaining([
        { input: { n: 1 }, output: { twice: 2 }, status: 'ok', error: null },
        { input: { n: 2 }, output: null, status: 'error', error: 'no two' },
      ]),
    );
    for (const call of found)
      expect(call).toMatchObject({ agent: 'desk', session: 's1', tool: 'work', turnId });
  });

  it('has the calls of runTool once, also when one is asked for again', async () => {
    const log = logged();
    const fixture = await hostFixture();
    const ctx = await fixture.open({ toolCallLog: { log } });
    await ctx.beginTurn('go');
    const call = await calledRead(ctx);
    for (let time = 0; time < 2; time += 1) await ctx.runTool(call, () => 'content');
    await ctx.endTurn();
    expect(await log.search()).toMatchObject([
      { agent: 'host', tool: 'read', input: { path: '/a' }, output: 'content', status: 'ok' },
    ]);
  });

  it('gets a call that a crash interrupted from the next process, once', async () => {
    const log = logged();
    const fixture = await hostFixture();
    const ctx = await fixture.open({ toolCallLog: { log } });
    await ctx.beginTurn('go');
    const call = await calledRead(ctx);
    await new Promise<void>((resolve) => {
      void ctx.runTool(call, () => {
        resolve();
        return new Promise(() => {});
      });
    });
    for (let process = 0; process < 2; process += 1)
      await (await fixture.openAfterCrash({ toolCallLog: { log } })).close();
    expect(await log.search()).toMatchObject([
      {
        tool: 'read',
        input: { path: '/a' },
        error: 'Interrupted by the end of its process: outcome_unknown.',
      },
    ]);
  });

  it('that fails is reported, and the turn goes on', async () => {
    const storage = new MemoryStorage();
    const log = new ToolCallLog(storage);
    await log.close();
    await storage.close();
    const failures: string[] = [];
    const fixture = await hostFixture();
    const onFailed = (message: string) => failures.push(message);
    const ctx = await fixture.open({ toolCallLog: { log, onFailed } });
    await ctx.beginTurn('go');
    const execute = ctx.guardTools(double).work.execute!;
    expect(await execute({ n: 2 }, { toolCallId: 'c', messages: [] })).toEqual({ twice: 4 });
    await ctx.endTurn();
    expect(failures).toHaveLength(1);
  });
});
