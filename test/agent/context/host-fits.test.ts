/** A host's requests within a budget, over a provider's own client. */
import { describe, expect, it } from 'vitest';
import { isRekindleError } from '../../../src/core/errors.js';
import { toolResultOf } from '../../../src/messages/message.js';
import { checkRequest } from '../../../src/messages/projections/project.js';
import { outline } from '../agent-fixture.js';
import { hostFixture } from './host-fixture.js';

const words = (count: number) => Array.from({ length: count }, (_, n) => `word${n}`).join(' ');
const answer = (text: string) => ({
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }],
});
const calling = (id: string) => ({
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: 'work', arguments: `{"id":"${id}"}` } }],
      },
    },
  ],
});

describe('requestFor with a budget', () => {
  it('gives requests that fit and are legal, over one long turn of calls', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open({ system: 'Be kind.' });
    await ctx.beginTurn('The one request.');
    const budget = { inputBudgetTokens: 4_000 };
    for (let step = 1; step <= 40; step += 1) {
      const { request } = await ctx.requestFor('openai-chat', { budget });
      expect(JSON.stringify(request).length / 3).toBeLessThan(4_000);
      expect(checkRequest('openai-chat', request)).toEqual([]);
      const { toolCalls } = await ctx.recordResponse('openai-chat', calling(`c${step}`));
      for (const call of toolCalls) await ctx.runTool(call, () => `result ${step}: ${words(300)}`);
    }
    await ctx.requestFor('openai-chat', { budget });
    await ctx.recordResponse('openai-chat', answer('Done.'));
    await ctx.endTurn();
    expect(outline(ctx.messages)).toContain('user: The one request.');
    const rows = await fixture.rows();
    expect(rows.filter(({ trace_type: type }) => type === 'tool_call')).toHaveLength(40);
    const shown = outline(ctx.messages);
    await ctx.close();
    expect(outline((await fixture.open()).messages)).toEqual(shown);
  });

  it('is refused before the model is called when the input alone is too large', async () => {
    const ctx = await (await hostFixture()).open();
    await ctx.beginTurn(words(5_000));
    const refused = ctx.requestFor('anthropic', { budget: { inputBudgetTokens: 1_000 } });
    expect(await refused.catch((thrown: unknown) => isRekindleError(thrown, 'CONTEXT_TOO_LARGE'))).toBe(true);
  });

  it('counts the tools of the request', async () => {
    const ctx = await (await hostFixture()).open();
    await ctx.beginTurn('hi');
    const tools = [{ name: 'big', description: words(3_000), inputSchema: { type: 'object' } }];
    const refused = ctx.requestFor('anthropic', { tools, budget: { inputBudgetTokens: 2_000 } });
    expect(await refused.catch((thrown: unknown) => thrown)).toMatchObject({
      code: 'CONTEXT_TOO_LARGE',
      details: { parts: { tools: expect.any(Number) } },
    });
  });
});

describe('a result that is larger than its share', () => {
  it('is what the tool gives to the host, too, and telling of the whole one again records nothing', async () => {
    const fixture = await hostFixture();
    const ctx = await fixture.open({ memory: { compaction: { inputBudgetTokens: 4_000 } } });
    await ctx.beginTurn('go');
    const whole = words(3_000);
    const { toolCalls } = await ctx.recordResponse('openai-chat', calling('c'));
    const outcome = await ctx.runTool(toolCalls[0]!, () => whole);
    expect(outcome.result).toEqual(
      ctx.messages.map(toolResultOf).find((result) => result !== null)?.toolResult,
    );
    const before = await fixture.rows();
    const told = calling('c').choices[0]!.message;
    await ctx.step([told, { role: 'tool', tool_call_id: 'c', content: whole }] as never);
    expect(await fixture.rows()).toEqual(before);
  });

  it('that a host tells of without a guard is stored apart, too', async () => {
    const ctx = await (await hostFixture()).open({ memory: { compaction: { inputBudgetTokens: 4_000 } } });
    await ctx.beginTurn('go');
    const told = calling('c').choices[0]!.message;
    await ctx.endTurn([told, { role: 'tool', tool_call_id: 'c', content: words(3_000) }] as never);
    const result = ctx.messages.map(toolResultOf).find((found) => found !== null);
    expect(result?.toolResult).toMatch(/read_result/);
  });
});

describe('a refusal for length', () => {
  it('is learned by fitAfter, which makes the context smaller; any other failure is not its matter', async () => {
    const ctx = await (await hostFixture()).open();
    await ctx.beginTurn('go');
    for (let step = 1; step <= 10; step += 1) {
      const { toolCalls } = await ctx.recordResponse('openai-chat', calling(`c${step}`));
      for (const call of toolCalls) await ctx.runTool(call, () => words(300));
    }
    const size = () => JSON.stringify(ctx.requestFor('openai-chat').request).length;
    const before = size();
    expect(await ctx.fitAfter(new Error('socket hang up'))).toBe(false);
    expect(size()).toBe(before);
    const refusal = { error: { message: 'prompt is too long: 9000 tokens > 5000 maximum' } };
    expect(await ctx.fitAfter(refusal)).toBe(true);
    expect(size()).toBeLessThan(before * 0.7);
  });
});
