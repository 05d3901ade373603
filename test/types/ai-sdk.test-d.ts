/** Types that must hold, checked by `npm run typecheck`: nothing here runs. */
import { generateText, jsonSchema, type ModelMessage, streamText, type ToolSet, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { expectTypeOf } from 'vitest';
import { aiSdkModel } from '../../src/agent/model/ai-sdk/index.js';
import {
  type AgentConfig,
  type AgentEvent,
  type AgentEvents,
  createAgent,
  type ErrorCode,
  isRekindleError,
  type LanguageModel,
  openAgent,
  openWorkingContext,
  type RestoreReport,
  restoreAgent,
  type ToolDefinition,
  type TurnResult,
  type WorkingContext,
} from '../../src/index.js';
import type { AiSdkMessage } from '../../src/messages/index.js';

const model = new MockLanguageModelV3();

// --- What the projection gives is what the SDK takes.
expectTypeOf<AiSdkMessage[]>().toExtend<ModelMessage[]>();
expectTypeOf<AiSdkMessage>().not.toEqualTypeOf<ModelMessage>(); // narrower: nothing that we cannot write comes out

export function passesTheList(ctx: WorkingContext): unknown {
  expectTypeOf(ctx.messagesFor('ai-sdk')).toExtend<ModelMessage[]>();
  // @ts-expect-error only the targets that there are
  ctx.messagesFor('ai-skd');
  return streamText({ model, messages: ctx.messagesFor('ai-sdk') });
}

// --- Guarded tools are the tools: the SDK still knows what each takes and gives.
export async function keepsToolTypes(ctx: WorkingContext): Promise<void> {
  const tools = {
    add: tool({
      description: 'Adds.',
      inputSchema: jsonSchema<{ a: number; b: number }>({ type: 'object' }),
      execute: async ({ a, b }) => ({ sum: a + b }),
    }),
    ask: tool({
      inputSchema: jsonSchema<{ question: string }>({ type: 'object' }),
      outputSchema: jsonSchema<string>({ type: 'string' }),
    }),
  };
  const guarded = ctx.guardTools(tools);
  expectTypeOf(guarded).toEqualTypeOf<typeof tools>();
  expectTypeOf(guarded).toExtend<ToolSet>();
  const { toolResults, response } = await generateText({
    model,
    messages: ctx.messagesFor('ai-sdk'),
    tools: guarded,
    onStepFinish: ctx.step,
  });
  const [first] = toolResults;
  if (first?.type === 'tool-result' && !first.dynamic && first.toolName === 'add') {
    expectTypeOf(first.output).toEqualTypeOf<{ sum: number }>();
  }
  expectTypeOf(ctx.endTurn).toBeCallableWith(response.messages);
  // @ts-expect-error tools are objects
  ctx.guardTools({ add: 'a text' });
}

// --- The public names.
export function givesWhatItSays(): void {
  expectTypeOf(aiSdkModel(model)).toExtend<LanguageModel>();
  expectTypeOf(aiSdkModel).toBeCallableWith('openai/gpt-5-mini');
  expectTypeOf(openWorkingContext).toBeCallableWith({ agentId: 'a', system: 'Be kind.' });
  expectTypeOf(openAgent).toBeCallableWith('a', { model: aiSdkModel(model) });
  expectTypeOf(restoreAgent).toBeCallableWith('a', { model: aiSdkModel(model) }, './memory');
  // @ts-expect-error an agent needs a model
  createAgent({ agentId: 'a' });

  const agent = createAgent({ model: aiSdkModel(model) });
  expectTypeOf(agent.restoreReport).toEqualTypeOf<RestoreReport | null>();
  expectTypeOf(agent.send('hi')).resolves.toEqualTypeOf<TurnResult>();
  expectTypeOf(agent.stream('hi')).toExtend<AsyncIterable<AgentEvent>>();
  agent.events.on('text_delta', (event) => expectTypeOf(event).toEqualTypeOf<AgentEvents['text_delta']>());
  // @ts-expect-error no such event
  agent.events.on('text_delda', () => {});
}

export function narrowsEventsByType(event: AgentEvent): string | null {
  return event.type === 'tool_result' ? event.error : null;
}

export function narrowsErrors(thrown: unknown): ErrorCode | null {
  if (!isRekindleError(thrown, 'LEASE_HELD')) return null;
  expectTypeOf(thrown.details).toExtend<object>();
  return thrown.code;
}

export const options: Pick<AgentConfig, 'tools' | 'approve'> = {
  tools: [
    {
      name: 'add',
      description: 'Adds.',
      inputSchema: { type: 'object' },
      needsApproval: (args) => Number(args['a']) > 100,
      execute: async (args, { signal, idempotencyKey }) => [args['a'] ?? 0, signal.aborted, idempotencyKey],
    } satisfies ToolDefinition,
  ],
  approve: async ({ toolName }) => toolName === 'add',
};
