/**
 * Translates what a provider signed between stored AI SDK parts and our items, for every provider family: Anthropic's
 * signatures, OpenAI's item ids and encrypted reasoning, Gemini's thought signatures. Each goes back under the key it
 * was found under.
 */

import { isJsonObject, type JsonObject } from '../core/json.js';
import { type AiSdkProviderOptions, callOptionsOf } from './ai-sdk-metadata.js';
import type { Message, Origin, ReasoningItem, TextPart, ToolCallSpec } from './message.js';

/** Keys of services that route to other providers. They sign nothing themselves. */
const ROUTERS = new Set(['gateway', 'openrouter']);
const GEMINI = /^(google|vertex|gemini)/;

/** For a live response: unsigned reasoning is attributed to the model that answered. */
export function reasoningFrom(text: string, metadata: unknown, origin: Origin): ReasoningItem {
  const item = signedReasoningFrom(text, metadata);
  return { ...item, origin: { ...origin, ...item.origin } };
}

export function isSigned(item: ReasoningItem): boolean {
  return item.signature !== undefined || item.encrypted !== undefined;
}

/** Without an origin if nothing says whose reasoning it is. */
export function signedReasoningFrom(text: string, metadata: unknown): ReasoningItem {
  for (const [provider, fields] of providersIn(metadata)) {
    const origin = { provider };
    const { thoughtSignature, itemId, reasoningEncryptedContent } = fields;
    if (typeof thoughtSignature === 'string') return { text, signature: thoughtSignature, origin };
    if (typeof itemId === 'string' || typeof reasoningEncryptedContent === 'string') {
      return {
        text: text === '' ? null : text,
        ...(typeof reasoningEncryptedContent === 'string' ? { encrypted: reasoningEncryptedContent } : {}),
        ...(typeof itemId === 'string' ? { id: itemId } : {}),
        origin,
      };
    }
    const { signature, redactedData } = fields;
    if (typeof signature === 'string') return { text, signature, origin };
    if (typeof redactedData === 'string')
      return { text: null, encrypted: redactedData, redacted: true, origin };
  }
  const origin = originFrom(metadata);
  return origin ? { text, origin } : { text };
}

/** Undefined if nothing was signed, or if the signer is unknown. */
export function reasoningMetadataOf(
  item: ReasoningItem,
  origin: Origin | undefined,
): AiSdkProviderOptions | undefined {
  const provider = item.origin?.provider ?? origin?.provider;
  if (provider === undefined) return undefined;
  if (item.signature !== undefined && GEMINI.test(provider))
    return { [provider]: { thoughtSignature: item.signature } };
  if (item.signature !== undefined) return { [provider]: { signature: item.signature } };
  if (item.redacted)
    return item.encrypted === undefined ? undefined : { [provider]: { redactedData: item.encrypted } };
  if (item.encrypted === undefined && item.id === undefined) return undefined;
  return {
    [provider]: {
      ...(item.id === undefined ? {} : { itemId: item.id }),
      ...(item.encrypted === undefined ? {} : { reasoningEncryptedContent: item.encrypted }),
    },
  };
}

/** Gemini also signs texts and calls. */
export function thoughtSignatureFrom(metadata: unknown): { readonly signature?: string } {
  for (const [, fields] of providersIn(metadata)) {
    const { thoughtSignature } = fields;
    if (typeof thoughtSignature === 'string') return { signature: thoughtSignature };
  }
  return {};
}

export function textMetadataOf(part: TextPart, origin: Origin | undefined): AiSdkProviderOptions | undefined {
  if (part.signature === undefined || origin === undefined) return undefined;
  return { [origin.provider]: { thoughtSignature: part.signature } };
}

export function callMetadataOf(call: ToolCallSpec, message: Message): AiSdkProviderOptions | undefined {
  const known = callOptionsOf(call, message);
  if (known || call.signature === undefined || message.origin === undefined) return known;
  return { [message.origin.provider]: { thoughtSignature: call.signature } };
}

/** The provider that a part's metadata belongs to. */
export function originFrom(metadata: unknown): Origin | undefined {
  for (const [provider] of providersIn(metadata)) return { provider };
  return undefined;
}

function providersIn(metadata: unknown): [string, JsonObject][] {
  if (!isJsonObject(metadata)) return [];
  return Object.entries(metadata).filter(
    (entry): entry is [string, JsonObject] => isJsonObject(entry[1]) && !ROUTERS.has(entry[0]),
  );
}
