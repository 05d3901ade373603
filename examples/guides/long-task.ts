/**
 * A long task with a small budget: a result that is too large, more steps than fit, and a request that cannot fit.
 *
 *     npx tsx examples/guides/long-task.ts
 *
 * A script stands for the model. It checks that no request is larger than the budget.
 */
import assert from 'node:assert/strict';
import { openAgent, ScriptedModel, type ToolDefinition } from '../../src/index.js';
import { O200kTokenCounter } from '../../src/memory/index.js';
import { inNewFolder } from '../support/lives.js';

inNewFolder();

const BUDGET = 3_000; // tokens
const HOSTS = 8;

const readLog: ToolDefinition = {
  name: 'read_log',
  description: 'The log of a host.',
  inputSchema: { type: 'object', properties: { host: { type: 'integer' } }, required: ['host'] },
  execute: ({ host }) =>
    Array.from(
      { length: 2_000 },
      (_, n) => `line ${n}: ${n === 999 ? `ERROR: disk ${host} is full` : 'ok'}`,
    ).join('\n'),
};

/** Reads the log of each host, and searches what was left out of it. */
const model = new ScriptedModel([
  ...Array.from({ length: HOSTS }, (_, host) => [
    { calls: [{ name: 'read_log', arguments: { host } }] },
    ({ messages }: { messages: readonly object[] }) => {
      const ref = /\b[0-9a-f]{64}\b/.exec(JSON.stringify(messages.at(-1)))![0];
      return { calls: [{ name: 'read_result', arguments: { ref, search: 'error' } }] };
    },
  ]).flat(),
  { text: 'All disks are full.' },
  { text: 'You are welcome.' },
]);

const agent = await openAgent('operator', {
  model,
  systemPrompt: 'You look after hosts.',
  tools: [readLog], // Rekindle adds `read_result`, `memory_search` and `memory_read`
  memoryDir: 'memory',
  memory: { compaction: { inputBudgetTokens: BUDGET } }, // default: the size of the model
});
let compactions = 0;
agent.memory.events.on('compacted', () => (compactions += 1));
let found = 0;
agent.events.on('tool_result', ({ toolName, result }) => {
  if (toolName === 'read_result' && JSON.stringify(result).includes('ERROR: disk')) found += 1;
});

const turn = await agent.send('Look for errors in the logs of all hosts.');
console.log(turn.text);
console.log(`${turn.steps} requests in one turn, and at least one compaction: ${compactions > 0}`);
console.log(`errors that the model found with read_result: ${found} of ${HOSTS}`);

const counter = new O200kTokenCounter();
const sizes: number[] = [];
for (const { messages } of model.requests) sizes.push(await counter.countMessages(messages));
console.log(`every request is within ${BUDGET} tokens: ${Math.max(...sizes) <= BUDGET}`);

const requests = model.requests.length;
const refusal = await agent.send('Explain this: '.repeat(5_000)).catch((thrown) => thrown);
console.log('a request that cannot fit:', refusal.code);
console.log('requests that the model got:', model.requests.length - requests);

console.log((await agent.send('Thank you.')).text); // the long message is shortened now
await agent.stop();

assert.equal(turn.steps, 2 * HOSTS + 1);
assert.equal(found, HOSTS);
assert.ok(compactions > 0 && Math.max(...sizes) <= BUDGET);
assert.equal(refusal.code, 'CONTEXT_TOO_LARGE');
