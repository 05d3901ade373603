/**
 * An agent that is killed while a tool runs, and the next process that goes on with its turn.
 *
 *     npx tsx examples/resume-after-crash.ts
 *
 * The program starts itself as a second process, which pays a bill and is killed with SIGKILL before it can note that it
 * did. The first process restores the agent: it learns that the outcome is unknown, looks, and does not pay twice.
 */
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openAgent, ScriptedModel, type ToolDefinition } from '../src/index.js'; // in your program: from 'rekindle'

const BILL_PAID = 'bill-4711-paid.txt';

const payBill: ToolDefinition = {
  name: 'pay_bill',
  description: 'Pays the bill 4711.',
  inputSchema: { type: 'object' },
  execute: async () => {
    writeFileSync(BILL_PAID, 'paid\n'); // the effect has happened ...
    process.send?.('paid');
    await new Promise(() => setInterval(() => {}, 60_000)); // ... and the process is killed before it can say so
  },
};

const isBillPaid: ToolDefinition = {
  name: 'is_bill_paid',
  description: 'Tells whether the bill 4711 is paid.',
  inputSchema: { type: 'object' },
  execute: () => ({ paid: existsSync(BILL_PAID) }),
};

/** A script stands for the model, so that the program runs without a key. */
function open(script: ConstructorParameters<typeof ScriptedModel>[0]) {
  return openAgent('clerk', { model: new ScriptedModel(script), tools: [payBill, isBillPaid] });
}

async function pay(): Promise<void> {
  const agent = await open([{ text: 'I pay it.', calls: [{ name: 'pay_bill', arguments: {} }] }]);
  await agent.send('Please pay the bill 4711.'); // never resolves
}

async function killWhilePaying(): Promise<void> {
  const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), 'pay'], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  await new Promise((resolve) => child.once('message', resolve));
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
}

async function goOn(): Promise<void> {
  const agent = await open([
    {
      text: 'I do not know whether it went through. Let me look.',
      calls: [{ name: 'is_bill_paid', arguments: {} }],
    },
    ({ messages }) => ({
      text: JSON.stringify(messages.at(-1)?.toolPayload).includes('true')
        ? 'The bill is paid; I did not pay it twice.'
        : 'The bill is not paid.',
    }),
  ]);
  for (const call of agent.restoreReport?.interruptedCalls ?? []) {
    console.log(`interrupted: ${call.toolName}, ${call.verdict}`);
  }
  agent.events.on('text_delta', ({ delta }) => process.stdout.write(delta));
  agent.events.on('tool_started', ({ toolName }) => console.log(`\n[${toolName}]`));
  const turn = await agent.resume(); // the host decides to go on: a restore by itself runs nothing
  console.log(`\nturn ${turn.turnId}: ${turn.status}`);
  await agent.stop();
}

if (process.argv[2] === 'pay') await pay();
else {
  await killWhilePaying();
  await goOn();
}
