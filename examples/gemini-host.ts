/**
 * A loop over the client of Gemini, with Rekindle as its memory: killed in the middle of a tool, it goes on after a restart.
 *
 *     npx tsx examples/gemini-host.ts
 */
import { GoogleGenAI } from '@google/genai';
import { openWorkingContext } from '../src/index.js'; // in your program: from 'rekindle'
import { killWhilePaying, payBill } from './support/kill-while-paying.js';

await killWhilePaying(async (url) => {
  const client = new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: url } });
  const ctx = await openWorkingContext({ agentId: 'gemini-host', system: 'You are a clerk.' });
  for (const call of ctx.report.interruptedCalls)
    console.log(`interrupted: ${call.toolName}, ${call.verdict}`);
  if (ctx.memory.frontier.kind === 'idle') await ctx.beginTurn('Please pay the bill 4711.');
  else ctx.resumeTurn();
  for (;;) {
    const { request } = ctx.requestFor('gemini', { model: 'model-1', tools: [payBill] });
    const stream = await client.models.generateContentStream({ ...request, model: 'model-1' });
    const answer = await ctx.recordResponse('gemini', stream); // on disk when it resolves
    console.log(answer.text);
    if (answer.toolCalls.length === 0) break;
    for (const call of answer.toolCalls) await ctx.runTool(call, payBill.execute); // its start and its result on disk, too
  }
  await ctx.endTurn();
  await ctx.close();
});
