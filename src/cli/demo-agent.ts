/**
 * The agent of the demo: an order desk with two tools. Run as a program, it is the process that is killed.
 *
 * `send_invoice` really writes a line to `outbox.txt` and then takes a minute to return, so that it can be
 * killed in between.
 */
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { createAgent } from '../agent/factory/agent-factory.js';
import type { ModelRequest } from '../agent/model/language-model.js';
import { ScriptedModel, type ScriptStep } from '../agent/model/scripted-model.js';
import type { ToolDefinition } from '../core/tool-definition.js';
import { textOf, toolResultOf } from '../messages/message.js';

export const DEMO_AGENT_ID = 'order-desk';
export const DEMO_PROMPT = 'You are an order desk. Never send an invoice twice.';
/** The child prints this when the tool has had its effect but has not returned. */
export const TOOL_IS_RUNNING = 'tool-is-running';

export function outboxFile(dir: string): string {
  return path.join(dir, 'outbox.txt');
}

export function demoTools(dir: string, afterEffect: () => Promise<void>): ToolDefinition[] {
  const orderSchema = {
    type: 'object',
    properties: { order: { type: 'string' } },
    required: ['order'],
    additionalProperties: false,
  };
  return [
    {
      name: 'send_invoice',
      description: 'Sends the invoice of an order by mail.',
      inputSchema: orderSchema,
      async execute(args) {
        await appendFile(outboxFile(dir), `invoice for order ${String(args['order'])}\n`);
        await afterEffect();
        return { sent: true };
      },
    },
    {
      name: 'list_outbox',
      description: 'Lists the mails that were sent.',
      inputSchema: { type: 'object', additionalProperties: false },
      idempotent: true,
      execute: async () => (await readFile(outboxFile(dir), 'utf8')).trim().split('\n'),
    },
  ];
}

/** The script before the crash. */
export const FIRST_LIFE: readonly ScriptStep[] = [
  { text: 'Noted: order 4711 ships on Friday.' },
  {
    text: 'I will send the invoice for order 4711.',
    calls: [{ id: 'call_invoice', name: 'send_invoice', arguments: { order: '4711' } }],
  },
];

/** The script after the crash: answers are made from the restored context. */
export const SECOND_LIFE: readonly ScriptStep[] = [
  (request) => ({
    text: lastResult(request).includes('outcome is unknown')
      ? 'I was interrupted and cannot know whether the invoice went out. I look before I send it again.'
      : 'The invoice is on its way.',
    calls: [{ id: 'call_outbox', name: 'list_outbox', arguments: {} }],
  }),
  (request) => ({
    text: lastResult(request).includes('4711')
      ? 'The invoice for order 4711 is in the outbox, so I did not send it again.'
      : 'The outbox is empty.',
  }),
  (request) => ({ text: said(request, 'ships on') ?? 'I do not know.' }),
];

function lastResult(request: ModelRequest): string {
  const result = request.messages.map(toolResultOf).findLast((item) => item !== null);
  return result ? (result.toolError ?? JSON.stringify(result.toolResult)) : '';
}

function said(request: ModelRequest, words: string): string | undefined {
  const earlier = request.messages.filter((message) => message.role === 'user').map(textOf);
  return earlier.find((text) => text.includes(words))?.replace('Please note: ', 'You told me: ');
}

async function main(dir: string): Promise<void> {
  const tools = demoTools(dir, async () => {
    process.stdout.write(`${TOOL_IS_RUNNING}\n`);
    await sleep(60_000);
  });
  const agent = createAgent({
    agentId: DEMO_AGENT_ID,
    memoryDir: dir,
    systemPrompt: DEMO_PROMPT,
    model: new ScriptedModel(FIRST_LIFE),
    tools,
  });
  await agent.start();
  agent.events.on('turn_ended', ({ text }) => process.stdout.write(`agent: ${text}\n`));
  agent.events.on('tool_started', ({ toolName }) => process.stdout.write(`agent calls ${toolName}\n`));
  await agent.send('Please note: order 4711 ships on Friday.');
  await agent.send('Send the invoice for order 4711.');
}

const [, script, dir] = process.argv;
if (script !== undefined && dir !== undefined && import.meta.url === pathToFileURL(script).href)
  await main(dir);
