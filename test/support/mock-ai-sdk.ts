/** The AI SDK's own mock model, following a script: one answer a request, for `generateText` and `streamText` alike. */
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3GenerateResult,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider';
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test';

export interface MockCall {
  readonly id: string;
  readonly name: string;
  /** An object, or the text that the provider sends in place of one. */
  readonly input: object | string;
  readonly providerMetadata?: NonNullable<LanguageModelV3GenerateResult['providerMetadata']>;
}

export interface MockAnswer {
  readonly reasoning?: string;
  /** Sent with the last part of the reasoning, as the Anthropic provider does. */
  readonly signature?: string;
  readonly text?: string;
  readonly calls?: readonly MockCall[];
  /** In place of what follows the text. */
  readonly fails?: unknown;
}

export type MockStep = MockAnswer | ((options: LanguageModelV3CallOptions) => MockAnswer);

const USAGE: LanguageModelV3GenerateResult['usage'] = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 3, text: 3, reasoning: undefined },
};

/** `provider` is also the key of its metadata. @param wordMs pause between the words of a stream */
export function mockModel(
  steps: readonly MockStep[],
  provider = 'mock',
  wordMs: number | null = null,
): MockLanguageModelV3 {
  let asked = 0;
  const next = (options: LanguageModelV3CallOptions): MockAnswer => {
    const step = steps[asked];
    asked += 1;
    if (!step) throw new Error(`The script has ${steps.length} answers; this was request ${asked}.`);
    return typeof step === 'function' ? step(options) : step;
  };
  return new MockLanguageModelV3({
    provider: `${provider}.chat`,
    modelId: 'mock-1',
    doGenerate: async (options) => {
      const answer = next(options);
      if (answer.fails) throw answer.fails;
      return {
        content: contentOf(answer, provider),
        finishReason: reasonOf(answer),
        usage: USAGE,
        warnings: [],
      };
    },
    doStream: async (options) => ({
      stream: simulateReadableStream({
        chunks: chunksOf(next(options), provider),
        chunkDelayInMs: wordMs,
      }),
    }),
  });
}

function reasonOf({ calls = [] }: MockAnswer): LanguageModelV3GenerateResult['finishReason'] {
  return { unified: calls.length > 0 ? 'tool-calls' : 'stop', raw: undefined };
}

function callOf({ id, name, input, providerMetadata }: MockCall) {
  return {
    type: 'tool-call' as const,
    toolCallId: id,
    toolName: name,
    input: typeof input === 'string' ? input : JSON.stringify(input),
    ...(providerMetadata ? { providerMetadata } : {}),
  };
}

function contentOf(answer: MockAnswer, provider: string): LanguageModelV3Content[] {
  const { reasoning, signature, text, calls = [] } = answer;
  return [
    ...(reasoning === undefined
      ? []
      : [
          {
            type: 'reasoning' as const,
            text: reasoning,
            ...(signature === undefined ? {} : { providerMetadata: { [provider]: { signature } } }),
          },
        ]),
    ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(callOf),
  ];
}

function chunksOf(answer: MockAnswer, provider: string): LanguageModelV3StreamPart[] {
  const { reasoning, signature, text, calls = [] } = answer;
  const chunks: LanguageModelV3StreamPart[] = [{ type: 'stream-start', warnings: [] }];
  if (reasoning !== undefined) {
    chunks.push({ type: 'reasoning-start', id: 'r' }, { type: 'reasoning-delta', id: 'r', delta: reasoning });
    if (signature !== undefined) {
      const providerMetadata = { [provider]: { signature } };
      chunks.push({ type: 'reasoning-delta', id: 'r', delta: '', providerMetadata });
    }
    chunks.push({ type: 'reasoning-end', id: 'r' });
  }
  if (text !== undefined) {
    chunks.push({ type: 'text-start', id: 't' });
    for (const delta of text.match(/\S+\s*|\s+/g) ?? []) chunks.push({ type: 'text-delta', id: 't', delta });
    chunks.push({ type: 'text-end', id: 't' });
  }
  if (answer.fails) return [...chunks, { type: 'error', error: answer.fails }];
  chunks.push(...calls.map(callOf));
  return [...chunks, { type: 'finish', finishReason: reasonOf(answer), usage: USAGE }];
}
