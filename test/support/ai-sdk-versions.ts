/** The real packages of the AI SDK, versions 5, 6 and 7, each with its own mock model: they differ in what they hand to a host. */
import * as six from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import * as five from 'ai-v5';
import { MockLanguageModelV2 } from 'ai-v5/test';
import * as seven from 'ai-v7';
import { MockLanguageModelV4 } from 'ai-v7/test';

export interface SdkCall {
  readonly id: string;
  readonly name: string;
  readonly input: object;
}

export interface SdkAnswer {
  readonly text?: string;
  readonly calls?: readonly SdkCall[];
  /** The stream does not go on after the text until it is aborted. */
  readonly hangs?: boolean;
}

export interface SdkVersion {
  readonly version: 5 | 6 | 7;
  /** Of version 6: the functions that are used here have one shape in all of them. */
  readonly sdk: typeof six;
  /** One answer for each request. `prompts` are what the model was sent. */
  model(answers: readonly SdkAnswer[]): { readonly model: six.LanguageModel; readonly prompts: unknown[][] };
}

type MockClass = new (options: object) => object;

export const SDK_VERSIONS: readonly SdkVersion[] = [
  {
    version: 5,
    sdk: five as unknown as typeof six,
    model: (answers) => mockOf(MockLanguageModelV2 as unknown as MockClass, answers, false),
  },
  {
    version: 6,
    sdk: six,
    model: (answers) => mockOf(MockLanguageModelV3 as unknown as MockClass, answers, true),
  },
  {
    version: 7,
    sdk: seven as unknown as typeof six,
    model: (answers) => mockOf(MockLanguageModelV4 as unknown as MockClass, answers, true),
  },
];

function mockOf(
  Mock: MockClass,
  answers: readonly SdkAnswer[],
  isUnified: boolean,
): ReturnType<SdkVersion['model']> {
  const prompts: unknown[][] = [];
  const next = (options: { prompt: unknown[] }): SdkAnswer => {
    prompts.push(options.prompt);
    const answer = answers[prompts.length - 1];
    if (!answer)
      throw new Error(`The script has ${answers.length} answers; this was request ${prompts.length}.`);
    return answer;
  };
  const end = (answer: SdkAnswer) => {
    const reason = answer.calls?.length ? 'tool-calls' : 'stop';
    return isUnified
      ? {
          finishReason: { unified: reason, raw: undefined },
          usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
        }
      : { finishReason: reason, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } };
  };
  const model = new Mock({
    doGenerate: async (options: { prompt: unknown[] }) => {
      const answer = next(options);
      return { content: contentOf(answer), warnings: [], ...end(answer) };
    },
    doStream: async (options: { prompt: unknown[]; abortSignal?: AbortSignal }) => {
      const answer = next(options);
      return { stream: streamOf(answer, end(answer), options.abortSignal) };
    },
  });
  return { model: model as unknown as six.LanguageModel, prompts };
}

function contentOf({ text, calls = [] }: SdkAnswer): object[] {
  return [...(text === undefined ? [] : [{ type: 'text', text }]), ...calls.map(callPart)];
}

function callPart({ id, name, input }: SdkCall): object {
  return { type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(input) };
}

function streamOf(answer: SdkAnswer, end: object, signal: AbortSignal | undefined): ReadableStream<object> {
  const { text, calls = [], hangs } = answer;
  return new ReadableStream({
    start(controller) {
      controller.enqueue({ type: 'stream-start', warnings: [] });
      if (text !== undefined) {
        controller.enqueue({ type: 'text-start', id: 't' });
        for (const delta of text.match(/\S+\s*/g) ?? [])
          controller.enqueue({ type: 'text-delta', id: 't', delta });
      }
      if (hangs) {
        signal?.addEventListener('abort', () => controller.error(signal.reason));
        return;
      }
      if (text !== undefined) controller.enqueue({ type: 'text-end', id: 't' });
      for (const call of calls) controller.enqueue(callPart(call));
      controller.enqueue({ type: 'finish', ...end });
      controller.close();
    },
  });
}
