/**
 * A host with a loop of its own over the Vercel AI SDK. Rekindle keeps its context and guards its tools.
 *
 *     npx tsx examples/ai-sdk-host.ts "Where is order 4711?"
 *
 * With OPENAI_API_KEY set it asks that provider (OPENAI_BASE_URL and OPENAI_MODEL choose another that speaks the same
 * protocol), else the SDK's mock model answers. Kill it at any moment: the next run goes on with the turn.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, type LanguageModel, stepCountIs, tool } from 'ai';
import { openWorkingContext } from '../src/index.js'; // in your program: from 'rekindle'

const tools = {
  look_up_order: tool({
    description: 'Tells where an order is.',
    inputSchema: jsonSchema<{ order: string }>({
      type: 'object',
      properties: { order: { type: 'string' } },
      required: ['order'],
    }),
    execute: async ({ order }) => ({ order, status: 'on its way', arrives: 'Friday' }),
  }),
};

const ctx = await openWorkingContext({ agentId: 'support-42', system: 'You are a support desk. Be brief.' });
console.log(ctx.isNew ? 'a new context' : `restored: ${ctx.report.source}, ${ctx.report.messages} messages`);
for (const call of ctx.report.interruptedCalls) console.log(`interrupted: ${call.toolName}, ${call.verdict}`);

if (ctx.memory.frontier.kind === 'idle') {
  await ctx.beginTurn(process.argv[2] ?? 'Where is order 4711?'); // on disk before the model is called
} else {
  console.log(`going on with ${ctx.resumeTurn()}, which was interrupted`);
}

const { text, response } = await generateText({
  model: await chooseModel(),
  messages: ctx.messagesFor('ai-sdk'),
  allowSystemInMessages: true, // the system prompt is the first message of the list, and it is ours
  tools: ctx.guardTools(tools), // each call on disk before its tool runs, its result before the model sees it
  stopWhen: stepCountIs(8),
  onStepFinish: ctx.step, // what a step said is on disk when the step ends
  prepareStep: ctx.prepareStep, // each request fits the model's input
});
await ctx.endTurn(response.messages); // on disk when it resolves
console.log(text);
await ctx.close();

async function chooseModel(): Promise<LanguageModel> {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL, OPENAI_MODEL: model } = process.env;
  if (!apiKey) return mockModel();
  const provider = createOpenAICompatible({
    name: 'openai',
    apiKey,
    baseURL: baseURL ?? 'https://api.openai.com/v1',
  });
  return provider(model ?? 'gpt-5-mini');
}

/** Looks the order up, then says what came of it and how much it remembers. */
async function mockModel(): Promise<LanguageModel> {
  const { MockLanguageModelV3 } = await import('ai/test');
  const usage = {
    inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: undefined, text: undefined, reasoning: undefined },
  };
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const questions = prompt.filter((message) => message.role === 'user').length;
      const answered = prompt.at(-1)?.role === 'tool';
      const call = { toolCallId: `call_${questions}`, toolName: 'look_up_order', input: '{"order":"4711"}' };
      const answer = `(mock model) It arrives on Friday. This is question ${questions} in our talk.`;
      return {
        content: [answered ? { type: 'text', text: answer } : { type: 'tool-call', ...call }],
        finishReason: { unified: answered ? 'stop' : 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
}
