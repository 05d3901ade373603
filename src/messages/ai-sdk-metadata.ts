/**
 * What only a provider understands (signatures), between the AI SDK's parts and our items. The SDK keeps it under the
 * provider's own key; the key is noted, and it goes back under it. The only place that knows the names of these fields.
 */
import { isJsonObject, type JsonValue } from '../core/json.js';
import type { Message, Origin, ProviderItem, ReasoningItem } from './message.js';

/** The SDK's `providerOptions` and `providerMetadata`. */
export type AiSdkProviderOptions = Record<string, Record<string, JsonValue>>;

/** Type of the provider item that holds the options of one call (Gemini: its thought signature). */
const CALL_ITEM = 'ai-sdk/tool-call';

/** A block of reasoning, with what its provider signed. */
export function reasoningItemFrom(text: string, metadata: unknown, origin: Origin): ReasoningItem {
  for (const [provider, fields] of Object.entries(isJsonObject(metadata) ? metadata : {})) {
    const { signature, redactedData } = isJsonObject(fields) ? fields : {};
    const signer = { ...origin, provider };
    if (typeof signature === 'string') return { text, signature, origin: signer };
    if (typeof redactedData === 'string')
      return { text: null, encrypted: redactedData, redacted: true, origin: signer };
  }
  return { text, origin };
}

/** @param provider the key where the item does not name its signer */
export function reasoningOptionsOf(item: ReasoningItem, provider: string): AiSdkProviderOptions | undefined {
  const key = item.origin?.provider ?? provider;
  if (item.signature !== undefined) return { [key]: { signature: item.signature } };
  return item.redacted && item.encrypted !== undefined
    ? { [key]: { redactedData: item.encrypted } }
    : undefined;
}

/** What a provider wants back with a call; null when that is nothing. */
export function callItemFrom(callId: string, metadata: unknown, origin: Origin): ProviderItem | null {
  if (!isJsonObject(metadata) || Object.keys(metadata).length === 0) return null;
  return { origin, item: { type: CALL_ITEM, toolCallId: callId, providerOptions: metadata } };
}

export function callOptionsOf(callId: string, message: Message): AiSdkProviderOptions | undefined {
  for (const { item } of message.providerItems ?? []) {
    if (!isJsonObject(item) || item['type'] !== CALL_ITEM || item['toolCallId'] !== callId) continue;
    return item['providerOptions'] as AiSdkProviderOptions;
  }
  return undefined;
}
