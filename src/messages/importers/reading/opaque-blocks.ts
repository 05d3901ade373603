/**
 * Blocks of an unknown kind: each is kept whole as a provider item, and its text is shown, so that no model misses what
 * was said or attached.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { Origin, ProviderItem } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { textField } from './record-fields.js';

/** Fields that hold text, or nested blocks with text. */
const TEXT_FIELDS = ['title', 'text', 'content', 'output', 'source'];
const DEPTH_MAX = 4;
const TEXTS_MAX = 1000;

export interface OpaqueBlock {
  readonly item: ProviderItem;
  /** The text of the block; null if it has none. */
  readonly text: string | null;
}

export function opaqueBlock(
  block: JsonValue,
  origin: Origin,
  place: string,
  losses: LossAccount,
): OpaqueBlock {
  const type = isJsonObject(block) ? (textField(block, 'type') ?? '').slice(0, 40) : '';
  const named = /^[\w.:/-]+$/.test(type) ? ` \`${type}\`` : '';
  losses.approximate(`a block of an unknown type${named}, kept for its provider`, place);
  return { item: { origin, item: block }, text: textOfBlock(block) };
}

export function textOfBlock(block: JsonValue): string | null {
  const texts: string[] = [];
  collect(block, texts, 0);
  return texts.length === 0 ? null : texts.join('\n');
}

function collect(value: JsonValue | undefined, texts: string[], depth: number): void {
  if (depth > DEPTH_MAX || texts.length >= TEXTS_MAX) return;
  if (typeof value === 'string') {
    if (value.trim() !== '') texts.push(value);
  } else if (Array.isArray(value)) for (const member of value) collect(member, texts, depth + 1);
  else if (isJsonObject(value)) collectFields(value, texts, depth);
}

function collectFields(block: JsonObject, texts: string[], depth: number): void {
  for (const field of TEXT_FIELDS) collect(block[field], texts, depth + 1);
  // The data of a plain text document is its text.
  if (block['type'] === 'text') collect(block['data'], texts, depth + 1);
}
