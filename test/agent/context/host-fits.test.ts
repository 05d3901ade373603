/** A host's requests within a budget, over a provider's own client. */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isRekindleError } from '../../../src/core/errors.js';
import { toolResultOf } from '../../../src/messages/message.js';
import { checkRequest } from '../../../src/messages/projections/project.js';
import { CLI_BUILD } from '../../support/build-cli.js';
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

/** CPU time, in milliseconds, of the longest stretch in which a new process let no timer run. A busy machine hardly changes it. */
function longestHold(prepare: string, act: string): number {
  const code = `${prepare}
    const cpu = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
    const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
    await pause();
    let [last, longest] = [cpu(), 0];
    const look = () => { const now = cpu(); longest = Math.max(longest, now - last); last = now; };
    const timer = setInterval(look, 1);
    ${act}
    await pause();
    look();
    clearInterval(timer);
    console.log(longest);`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  return Number(stdout.trim());
}

describe('the first request that needs the tokenizer', () => {
  it('holds the event loop for less than a third of the time that an import of the tokenizer takes', async () => {
    const { dir } = await hostFixture();
    const index = pathToFileURL(path.join(CLI_BUILD, 'index.js')).href;
    const turn = longestHold(
      `const { openWorkingContext } = await import(${JSON.stringify(index)});
      const long = ${JSON.stringify(words(2_000))};
      const ctx = await openWorkingContext({ agentId: 'new', dir: ${JSON.stringify(dir)} });
      await ctx.beginTurn(long);
      await ctx.endTurn([{ role: 'assistant', content: long }]);
      await ctx.beginTurn('And now?');`,
      `await ctx.requestFor('openai-chat', { budget: { inputBudgetTokens: 6_000 } });
      if (ctx.messages.some(({ content }) => content === long)) throw new Error('It did not count.');`,
    );
    const imported = longestHold(
      '',
      `await import(${JSON.stringify(import.meta.resolve('gpt-tokenizer/encoding/o200k_base'))});`,
    );
    expect(turn).toBeLessThan(Math.max(20, imported / 3));
  });
});
