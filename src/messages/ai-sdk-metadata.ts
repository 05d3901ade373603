/**
 * What only a provider understands (signatures), between the AI SDK's parts and our items. The SDK keeps it under the
 * provider's own key; the key is noted, and it goes back under it. The only place that knows the names of these fields.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.js';
import type { Message, Origin, ProviderItem, ReasoningItem, ToolCallSpec } from './message.js';

/** The SDK's `providerOptions` and `providerMetadata`. */
export type AiSdkProviderOptions = Record<string, Record<string, JsonValue>>;

/** Field of a call with what its provider wants back with it (Gemini: its thought signature). */
const CALL_OPTIONS = 'provider_options';
/** Type of the item that holds the same for a call that was recorded before its response was known. */
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

export function callExtraFrom(metadata: unknown): { readonly extra?: JsonObject } {
  return isFilled(metadata) ? { extra: { [CALL_OPTIONS]: metadata } } : {};
}

/** Null when the provider wants nothing back. */
export function callItemFrom(callId: string, metadata: unknown, origin: Origin): ProviderItem | null {
  if (!isFilled(metadata)) return null;
  return { origin, item: { type: CALL_ITEM, toolCallId: callId, providerOptions: metadata } };
}

export function callOptionsOf(call: ToolCallSpec, message: Message): AiSdkProviderOptions | undefined {
  const own = call.extra?.[CALL_OPTIONS];
  if (isJsonObject(own)) return own as AiSdkProviderOptions;
  for (const { item } of message.providerItems ?? []) {
    if (!isJsonObject(item) || item['type'] !== CALL_ITEM || item['toolCallId'] !== call.id) continue;
    return item['providerOptions'] as AiSdkProviderOptions;
  }
  return undefined;
}

function isFilled(metadata: unknown): metadata is JsonObject {
  return isJsonObject(metadata) && Object.keys(metadata).length > 0;
}
