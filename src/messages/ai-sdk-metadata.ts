/**
 * Translates what a provider wants back with a call between the AI SDK's parts and our calls. Only this file knows
 * where it is kept.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.js';
import type { Message, Origin, ProviderItem, ToolCallSpec } from './message.js';

/** The type of the SDK's `providerOptions` and `providerMetadata`. */
export type AiSdkProviderOptions = Record<string, Record<string, JsonValue>>;

/** Field of a call that holds what its provider wants back (Gemini: its thought signature). */
const CALL_OPTIONS = 'provider_options';
/** Type of the item that holds the same for a call that was recorded before its response was known. */
const CALL_ITEM = 'ai-sdk/tool-call';

export function callExtraFrom(metadata: unknown): { readonly extra?: JsonObject } {
  return isFilled(metadata) ? { extra: { [CALL_OPTIONS]: metadata } } : {};
}

/** Null when the provider wants nothing back. */
export function callItemFrom(callId: string, metadata: unknown, origin: Origin): ProviderItem | null {
  if (!isFilled(metadata)) return null;
  return { origin, item: { type: CALL_ITEM, toolCallId: callId, providerOptions: metadata } };
}

/** The same for a call that is already recorded; the item holds only what its provider wants back. */
export function callItemOf(
  callId: string,
  call: ToolCallSpec,
  origin: Origin | undefined,
): ProviderItem | null {
  return origin ? callItemFrom(callId, call.extra?.[CALL_OPTIONS], origin) : null;
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
