import type { LanguageModel as AiSdkLanguageModel, ModelMessage, ToolSet } from 'ai';
import { isRekindleError, RekindleError } from '../../../core/errors.js';
import type { JsonObject, JsonValue } from '../../../core/json.js';
import type { ToolDescription } from '../../../core/tool-definition.js';
import { callExtraFrom } from '../../../messages/ai-sdk-metadata.js';
import { isSigned, reasoningFrom } from '../../../messages/ai-sdk-signatures.js';
import type { Message, Origin, ToolCallSpec } from '../../../messages/message.js';
import { projectAiSdk } from '../../../messages/projections/ai-sdk.js';
import { artifactsOf } from '../artifacts.js';
import type { LanguageModel, ModelEvent, ModelRequest } from '../language-model.js';

/** Options of `aiSdkModel`. */
export interface AiSdkModelOptions {
  /** Sent with every request, such as `{ temperature: 0 }`. */
  readonly settings?: {
    readonly temperature?: number;
    readonly maxOutputTokens?: number;
    readonly topP?: number;
    readonly seed?: number;
    readonly providerOptions?: Record<string, JsonObject>;
  };
}

/** The SDK's errors about the request itself. None of them carries `isRetryable`. */
const REFUSED_BY_THE_SDK = /^AI_(Load|Invalid(Prompt|Argument|Message)|NoSuch|Missing|Unsupported)/;

/**
 * Wraps any model of the Vercel AI SDK as a `LanguageModel`. Loads the package `ai` at the first request.
 * Requests throw DEPENDENCY_MISSING if it is not installed.
 *
 *     const agent = createAgent({ model: aiSdkModel(openai('gpt-5')) });
 */
export function aiSdkModel(model: AiSdkLanguageModel, options: AiSdkModelOptions = {}): LanguageModel {
  return new AiSdkModel(model, options);
}

class AiSdkModel implements LanguageModel {
  readonly origin: Origin;
  readonly #model: AiSdkLanguageModel;
  readonly #options: AiSdkModelOptions;

  constructor(model: AiSdkLanguageModel, options: AiSdkModelOptions) {
    this.#model = model;
    this.#options = options;
    this.origin =
      typeof model === 'string'
        ? gatewayOrigin(model)
        : { provider: providerKey(model.provider), model: model.modelId };
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    const ai = await loadAiSdk();
    const { system, messages } = await project(request, this.origin);
    const result = ai.streamText({
      ...this.#options.settings,
      model: this.#model,
      ...(system === null ? {} : { system }),
      messages,
      tools: toolSet(ai, request.tools),
      abortSignal: request.signal,
      maxRetries: 0, // retries are the loop's, which takes back what a failed try said
      onError: () => {}, // thrown from the stream below
    });
    const reasoning = new ReasoningBlocks(this.origin);
    for await (const part of result.fullStream) {
      const event = reasoning.take(part) ?? this.#eventFor(part);
      if (event) yield event;
    }
  }

  /**
   * A 4xx error other than 408, 409 and 429 will fail again. So will a missing package or key, and a request
   * that the SDK refuses.
   */
  isRetryable(thrown: unknown): boolean {
    if (isRekindleError(thrown)) return false;
    const { isRetryable, name } = (thrown ?? {}) as { isRetryable?: unknown; name?: unknown };
    return typeof isRetryable === 'boolean' ? isRetryable : !REFUSED_BY_THE_SDK.test(String(name));
  }

  #eventFor(part: { readonly type: string }): ModelEvent | null {
    const fields = part as unknown as { [key: string]: unknown };
    switch (part.type) {
      case 'text-delta':
        return { type: 'text', delta: String(fields['text']) };
      case 'reasoning-delta':
        return { type: 'reasoning', delta: String(fields['text']) };
      case 'tool-call':
        return { type: 'tool_call', call: callFrom(fields) };
      case 'finish':
        return {
          type: 'finish',
          reason: String(fields['finishReason']),
          usage: usageFrom(fields['totalUsage']),
        };
      case 'error':
        throw errorFrom(fields['error']);
      case 'abort':
        throw new RekindleError('ABORTED', 'The model call was cancelled.');
      default:
        return null;
    }
  }
}

/**
 * Collects each block of reasoning and keeps its signature with its text. The signature may come with any
 * part (Anthropic: a last, empty delta). Unsigned reasoning stays the streamed text.
 */
class ReasoningBlocks {
  readonly #origin: Origin;
  readonly #blocks = new Map<string, { text: string; metadata: unknown }>();

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  /** The whole block at its end, if it is signed. */
  take(part: { readonly type: string }): ModelEvent | null {
    if (!part.type.startsWith('reasoning-')) return null;
    const { id, text = '', providerMetadata } = part as ReasoningStreamPart;
    const block = this.#blocks.get(id) ?? { text: '', metadata: undefined };
    this.#blocks.set(id, block);
    block.text += text;
    block.metadata = providerMetadata ?? block.metadata;
    if (part.type !== 'reasoning-end') return null;
    this.#blocks.delete(id); // ids are reused
    const item = reasoningFrom(block.text, block.metadata, this.#origin);
    return isSigned(item) ? { type: 'reasoning_item', item } : null;
  }
}

interface ReasoningStreamPart {
  readonly type: string;
  readonly id: string;
  readonly text?: string;
  readonly providerMetadata?: unknown;
}

async function project(
  request: ModelRequest,
  origin: Origin,
): Promise<{ system: string | null; messages: ModelMessage[] }> {
  const artifacts = await artifactsOf(request.messages, request.loadArtifact);
  const all: readonly Message[] = request.messages;
  const system = all[0]?.role === 'system' ? all[0].content : null;
  const { request: projected } = projectAiSdk(system === null ? all : all.slice(1), { ...origin, artifacts });
  return { system, messages: projected.messages as ModelMessage[] };
}

function toolSet(ai: typeof import('ai'), tools: readonly ToolDescription[]): ToolSet {
  const set: ToolSet = {};
  for (const { name, description, inputSchema } of tools) {
    set[name] = ai.tool({
      description,
      inputSchema: ai.jsonSchema(inputSchema as Parameters<typeof ai.jsonSchema>[0]),
    });
  }
  return set;
}

/**
 * The SDK passes input that it could not parse as text. The text is kept; the arguments are then not an
 * object.
 */
function callFrom(fields: { [key: string]: unknown }): ToolCallSpec {
  const { input } = fields;
  return {
    id: String(fields['toolCallId']),
    name: String(fields['toolName']),
    arguments: (input ?? {}) as JsonValue,
    ...(typeof input === 'string' ? { argumentsText: input } : {}),
    ...callExtraFrom(fields['providerMetadata']),
  };
}

/** A provider may send anything as an error in its stream. */
function errorFrom(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  const { message } = (thrown ?? {}) as { message?: unknown };
  const text =
    typeof message === 'string' ? message : typeof thrown === 'string' ? thrown : JSON.stringify(thrown);
  return new Error(text, { cause: thrown });
}

function usageFrom(usage: unknown): { inputTokens?: number; outputTokens?: number } {
  const { inputTokens, outputTokens } = (usage ?? {}) as { inputTokens?: unknown; outputTokens?: unknown };
  return {
    ...(typeof inputTokens === 'number' ? { inputTokens } : {}),
    ...(typeof outputTokens === 'number' ? { outputTokens } : {}),
  };
}

/**
 * `openai.chat` and `openai.responses` are one provider: the first part of the name is its key in provider
 * options.
 */
function providerKey(provider: string): string {
  return provider.split('.')[0] || provider;
}

function gatewayOrigin(id: string): Origin {
  const slash = id.indexOf('/');
  return slash > 0
    ? { provider: id.slice(0, slash), model: id.slice(slash + 1) }
    : { provider: 'gateway', model: id };
}

async function loadAiSdk(): Promise<typeof import('ai')> {
  try {
    return await import('ai');
  } catch (cause) {
    throw new RekindleError('DEPENDENCY_MISSING', 'The package `ai` is not installed. Run: npm install ai', {
      details: { package: 'ai' },
      cause,
    });
  }
}
