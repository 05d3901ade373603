/** The parts of a request in tokens: for errors, events and people. */
import { RekindleError } from '../../core/errors.js';
import { hasMedia, type Message, toolCallsOf, toolResultOf } from '../../messages/message.js';
import type { TokenCounter } from '../compaction/token-counter.js';

/**
 * Tokens by kind. A message counts once, under the first kind that fits: memory, results, media, calls, requests,
 * answers. Only its reasoning counts separately.
 */
export interface RequestParts {
  readonly system: number;
  readonly tools: number;
  readonly memory: number;
  readonly requests: number;
  readonly answers: number;
  readonly calls: number;
  readonly results: number;
  readonly media: number;
  readonly reasoning: number;
}

export async function requestParts(
  messages: readonly Message[],
  toolTokens: number,
  counter: TokenCounter,
): Promise<RequestParts> {
  const parts = {
    system: 0,
    tools: toolTokens,
    memory: 0,
    requests: 0,
    answers: 0,
    calls: 0,
    results: 0,
    media: 0,
    reasoning: 0,
  };
  for (const message of messages) {
    const tokens = await counter.countMessages([message]);
    const reasoning = hasReasoning(message)
      ? tokens - (await counter.countMessages([withoutReasoning(message)]))
      : 0;
    parts.reasoning += reasoning;
    parts[kindOf(message)] += tokens - reasoning;
  }
  return parts;
}

function hasReasoning({ reasoning, reasoningContent, parts = [] }: Message): boolean {
  return Boolean(reasoning || reasoningContent) || parts.some(({ type }) => type === 'reasoning');
}

function withoutReasoning({ reasoning: _, reasoningContent: __, parts, ...rest }: Message): Message {
  return parts ? { ...rest, parts: parts.filter(({ type }) => type !== 'reasoning') } : rest;
}

function kindOf(message: Message): keyof RequestParts {
  if (message.role === 'system') return 'system';
  if (message.kind !== undefined) return 'memory';
  if (toolResultOf(message)) return 'results';
  if (hasMedia(message)) return 'media';
  if (toolCallsOf(message).length > 0) return 'calls';
  return message.role === 'user' ? 'requests' : 'answers';
}

/** @param cause the provider's refusal that the rungs responded to, if any */
export function contextTooLarge(
  parts: RequestParts,
  tokens: number,
  inputBudgetTokens: number,
  cause: unknown,
): RekindleError {
  const [name, most] = Object.entries(parts).sort(([, a], [, b]) => b - a)[0]!;
  return new RekindleError(
    'CONTEXT_TOO_LARGE',
    `The next request needs ${tokens} tokens and the model takes ${inputBudgetTokens}. Most of it is ${name} (${most} tokens).`,
    {
      details: { tokens, inputBudgetTokens, parts: { ...parts } },
      ...(cause === undefined ? {} : { cause }),
    },
  );
}
