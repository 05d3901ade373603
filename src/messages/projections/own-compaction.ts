/**
 * A provider's own compaction of the earlier conversation: a `compaction` block of Anthropic, a `compaction` item of
 * OpenAI. It is sent back to the model that made it, in place of the messages before it. Other models get the messages.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { isBlankText, type Message } from '../message.js';
import type { ProjectionTarget } from './projection.js';
import { isOwn } from './reasoning-origin.js';

/** Null if the message has none that this target made. */
export function ownCompactionOf(
  { role, providerItems = [] }: Message,
  provider: string,
  target: ProjectionTarget,
): JsonObject | null {
  if (role !== 'assistant') return null;
  const found = providerItems.findLast(
    ({ origin, item }) => isOwn(origin, provider, target) && isCompaction(item),
  );
  return found ? (found.item as JsonObject) : null;
}

/** A failed compaction is empty: the messages are still needed. */
function isCompaction(item: JsonValue): boolean {
  if (!isJsonObject(item) || item['type'] !== 'compaction') return false;
  const made = item['encrypted_content'] ?? item['content'];
  return typeof made === 'string' && !isBlankText(made);
}
