/**
 * Decides where reasoning may be sent back. What a provider signed or encrypted goes back unchanged, and only to the
 * same model and, if known, the same account. Reasoning of unknown origin is never sent.
 */
import {
  type ContentPart,
  isBlankText,
  type Message,
  type Origin,
  type ReasoningItem,
  toolCallsOf,
} from '../message.js';
import type { ProjectionTarget } from './projection.js';

/** Names under which one provider's items are known. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^(anthropic|claude)/i, 'anthropic'],
  [/^(openai|codex|azure-openai|azure\.)/i, 'openai'],
  [/^(google|gemini)/i, 'google'],
];

export function providerFamily(provider: string): string {
  return FAMILIES.find(([pattern]) => pattern.test(provider))?.[1] ?? provider;
}

export function isOwn(origin: Origin | undefined, provider: string, target: ProjectionTarget): boolean {
  if (!origin || providerFamily(origin.provider) !== providerFamily(provider)) return false;
  const sameModel = !origin.model || !target.model || origin.model === target.model;
  return sameModel && (!origin.account || !target.account || origin.account === target.account);
}

export type SaidPart = Exclude<ContentPart, { type: 'media' }>;

/** Reasoning and text in their given order. Media are separate, because no assistant message may hold them. */
export function saidParts(message: Message): SaidPart[] {
  const before = (message.reasoning ?? []).map((reasoning): SaidPart => ({ type: 'reasoning', reasoning }));
  const text: SaidPart[] = message.content === null ? [] : [{ type: 'text', text: message.content }];
  const parts = (message.parts ?? []).filter((part): part is SaidPart => part.type !== 'media');
  return [...before, ...text, ...parts];
}

export function hasReasoning(message: Message): boolean {
  return (
    message.reasoningContent !== undefined || saidParts(message).some((part) => part.type === 'reasoning')
  );
}

export interface ReplayedParts {
  /** Without blank texts, and without reasoning that must not be sent back. */
  readonly parts: readonly SaidPart[];
  /** Why reasoning is left out; null if all of it is included, or if there was none. */
  readonly omitted: string | null;
}

/**
 * All reasoning of a message, or none: the signatures cover positions.
 * @param mayGoBack whether the target made this item and accepts it
 */
export function replayedParts(
  message: Message,
  target: ProjectionTarget,
  mayGoBack: (item: ReasoningItem) => boolean,
): ReplayedParts {
  const parts = saidParts(message);
  const texts = parts.filter((part) => part.type === 'text' && !isBlankText(part.text));
  const items = parts.flatMap((part) => (part.type === 'reasoning' ? [part.reasoning] : []));
  if (items.length === 0)
    return { parts: texts, omitted: message.reasoningContent === undefined ? null : 'nobody signed it' };
  if (target.reasoning === false) return { parts: texts, omitted: 'thinking is off' };
  if (!items.every(mayGoBack)) return { parts: texts, omitted: 'it is of another model, or not signed' };
  if (hasBlankAmongSigned(parts))
    return { parts: texts, omitted: 'a blank text stands between signed blocks' };
  return {
    parts: parts.filter((part) => part.type === 'reasoning' || !isBlankText(part.text)),
    omitted: null,
  };
}

/** For providers that reject a message whose last block is reasoning: the text is sent without the reasoning. */
export function endingInText(message: Message, replayed: ReplayedParts): ReplayedParts {
  const { parts } = replayed;
  const texts = parts.filter((part) => part.type === 'text');
  if (toolCallsOf(message).length > 0 || texts.length === 0 || parts.at(-1)?.type === 'text') return replayed;
  return { parts: texts, omitted: 'nothing follows it' };
}

/** A blank text can be neither sent nor left out here: the signatures cover the positions of the blocks. */
function hasBlankAmongSigned(parts: readonly SaidPart[]): boolean {
  const last = parts.findLastIndex((part) => part.type === 'reasoning');
  const first = parts.findIndex((part) => part.type === 'reasoning');
  return parts.some(
    (part, index) => part.type === 'text' && isBlankText(part.text) && index > first && index < last,
  );
}
