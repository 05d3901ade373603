/**
 * A process that is killed while it streams: prints each word as it is delivered to a reader. Its first argument is the folder, the
 * second one names the way in.
 */
import { streamText } from 'ai';
import { openWorkingContext } from '../../../src/agent/context/open-working-context.js';
import { createAgent } from '../../../src/agent/factory/agent-factory.js';
import { ScriptedModel } from '../../../src/agent/model/scripted-model.js';
import { mockModel } from '../../support/mock-ai-sdk.js';
import { storyOf } from './story.js';

export type StreamedBy = 'agent' | 'ai-sdk' | 'openai-chat';

const [, , dir = '', way = ''] = process.argv;
const story = storyOf(3_000);

function show(text: string): void {
  process.stdout.write(text);
}

async function byAgent(): Promise<void> {
  const model = new ScriptedModel([{ text: story, wordMs: 1 }]);
  const agent = createAgent({ agentId: 'ada', memoryDir: dir, model });
  await agent.start();
  for await (const event of agent.stream('Tell me a story.'))
    if (event.type === 'text_delta') show(event.delta);
}

async function byHost(): Promise<void> {
  const ctx = await openWorkingContext({ agentId: 'ada', dir });
  await ctx.beginTurn('Tell me a story.');
  if (way === 'ai-sdk') {
    const result = streamText({
      model: mockModel([{ text: story }], 'mock', 1),
      messages: ctx.messagesFor('ai-sdk'),
    });
    for await (const part of ctx.stream('ai-sdk', result)) if (part.type === 'text-delta') show(part.text);
    return;
  }
  async function* chunks() {
    for (const content of story.match(/\S+\s*/g) ?? []) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      yield { choices: [{ index: 0, delta: { content }, finish_reason: null }] };
    }
  }
  for await (const chunk of ctx.stream('openai-chat', chunks())) show(chunk.choices[0]!.delta.content);
}

await (way === 'agent' ? byAgent() : byHost());
