/**
 * A loop over the client of OpenAI (Responses), with Rekindle as its memory: killed in the middle of a tool, it goes on after a restart.
 *
 *     npx tsx examples/openai-responses-host.ts
 */
import OpenAI from 'openai';
import { openWorkingContext } from '../src/index.js'; // in your program: from 'rekindle'
import { killWhilePaying, payBill } from './support/kill-while-paying.js';

await killWhilePaying(async (url) => {
  const client = new OpenAI({ apiKey: 'key', baseURL: `${url}/v1` });
  const ctx = await openWorkingContext({ agentId: 'openai-responses-host', system: 'You are a clerk.' });
  for (const call of ctx.report.interruptedCalls)
    console.log(`interrupted: ${call.toolName}, ${call.verdict}`);
  if (ctx.memory.frontier.kind === 'idle') await ctx.beginTurn('Please pay the bill 4711.');
  else ctx.resumeTurn();
  for (;;) {
    const { request } = ctx.requestFor('openai-responses', { model: 'model-1', tools: [payBill] });
    const input = request.input as OpenAI.Responses.ResponseInput; // its type wants an id that the API does not
    const stream = await client.responses.create({ ...request, input, model: 'model-1', stream: true });
    const answer = await ctx.recordResponse('openai-responses', stream); // on disk when it resolves
    console.log(answer.text);
    if (answer.toolCalls.length === 0) break;
    for (const call of answer.toolCalls) await ctx.runTool(call, payBill.execute); // its start and its result on disk, too
  }
  await ctx.endTurn();
  await ctx.close();
});
