/**
 * Tools with effects: a payment is interrupted after it took effect and before its result was recorded. It is not made twice.
 *
 *     npx tsx examples/guides/tools.ts
 *
 * A script stands for the model, and the file `bank.txt` for a bank.
 */
import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { openAgent, ScriptedModel, type ToolDefinition } from '../../src/index.js';
import { openToolCallLedger } from '../../src/memory/index.js';
import { openStorage } from '../../src/storage/index.js';
import { type Life, lives } from '../support/lives.js';

type Script = ConstructorParameters<typeof ScriptedModel>[0];

const inputSchema = {
  type: 'object',
  properties: { bill: { type: 'integer' }, amount: { type: 'number', minimum: 0 } },
  required: ['bill'],
};

const payments = () => (existsSync('bank.txt') ? readFileSync('bank.txt', 'utf8').trim().split('\n') : []);

function toolsOf(die: () => Promise<never>): ToolDefinition[] {
  const payBill: ToolDefinition = {
    name: 'pay_bill',
    description: 'Pays a bill.',
    inputSchema,
    needsApproval: ({ amount }) => Number(amount) > 100, // asks `approve` first
    execute: async ({ bill, amount }, { idempotencyKey }) => {
      // The same key for every attempt of this call: give it to a service that supports one.
      appendFileSync('bank.txt', `bill ${bill}: ${amount}, key ${idempotencyKey}\n`);
      if (bill === 4711) await die(); // the payment is made, and nobody records it
      return { paid: amount };
    },
  };
  const listPayments: ToolDefinition = {
    name: 'list_payments',
    description: 'The payments of a bill.',
    inputSchema,
    idempotent: true, // it changes nothing, so it may run again
    execute: ({ bill }) => payments().filter((line) => line.startsWith(`bill ${bill}:`)),
  };
  return [payBill, listPayments];
}

async function open(script: Script, die: () => Promise<never>) {
  const agent = await openAgent('clerk', {
    model: new ScriptedModel(script),
    tools: toolsOf(die),
    memoryDir: 'memory',
    approve: ({ toolName, arguments: args }) => {
      console.log(`may I ${toolName} ${JSON.stringify(args)}? no`);
      return false; // here you ask a person, or apply a rule
    },
  });
  agent.events.on('tool_result', ({ toolName, result, error }) =>
    console.log(`${toolName}: ${error ?? JSON.stringify(result)}`),
  );
  return agent;
}

const call = (name: string, args: object) => ({ calls: [{ name, arguments: { ...args } }] });

const pay: Life = async (die) => {
  const agent = await open([call('pay_bill', { bill: 4711, amount: 20 })], die);
  await agent.send('Please pay the bill 4711.'); // never resolves
};

const goOn: Life = async (die) => {
  const agent = await open(
    [
      call('list_payments', { bill: 4711 }), // the model reads that the outcome is unknown, so it looks
      { text: 'The bill is paid.' },
      call('pay_bill', { bill: 4712, amount: 900 }),
      { text: 'You did not approve the payment.' },
    ],
    die,
  );
  const [interrupted] = agent.restoreReport!.interruptedCalls;
  console.log(`interrupted: ${interrupted?.toolName}, ${interrupted?.verdict}`);
  console.log((await agent.resume()).text);
  console.log((await agent.send('Now the bill 4712.')).text);
  await agent.stop();

  assert.equal(interrupted?.verdict, 'outcome_unknown');
  assert.deepEqual(
    payments().map((line) => line.slice(0, 13)),
    ['bill 4711: 20'],
  );
};

/** The same promise for a program without an agent. */
const withoutAgent = async () => {
  const ledger = await openToolCallLedger(openStorage('memory'));
  const payOnce = () =>
    ledger.run('bill-4713', { idempotent: false }, async () => {
      appendFileSync('bank.txt', 'bill 4713: 30\n');
      return { paid: 30 };
    });
  await payOnce();
  console.log('the second run gives the recorded result:', await payOnce());
  await ledger.close();
  assert.equal(payments().filter((line) => line.startsWith('bill 4713')).length, 1);
};

await lives(pay, async (die) => {
  await goOn(die);
  await withoutAgent();
});
