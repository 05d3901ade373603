/** The parts of a chat message's content: text, images, audio, files, refusals. */

import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, ProviderItem } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { mediaPartOf } from '../reading/content-parts.js';
import { jsonTextOf } from '../reading/json-text.js';
import { opaqueBlock } from '../reading/opaque-blocks.js';
import { isAbsent, objectField, textField } from '../reading/record-fields.js';

/** @param items receives the parts that only the provider understands */
export function chatPartsOf(
  content: JsonValue | undefined,
  place: string,
  losses: LossAccount,
  items: ProviderItem[] = [],
): ContentPart[] {
  if (isAbsent(content)) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (Array.isArray(content))
    return content.flatMap((part, index) => partOf(part, `${place}/content/${index}`, losses, items));
  losses.approximate('content of another type, as its JSON', place);
  return [{ type: 'text', text: jsonTextOf(content) }];
}

function partOf(part: JsonValue, place: string, losses: LossAccount, items: ProviderItem[]): ContentPart[] {
  if (typeof part === 'string') return [{ type: 'text', text: part }];
  const read = isJsonObject(part) ? knownPartOf(part, place, losses) : null;
  if (read) return [read];
  const { item, text } = opaqueBlock(part, ORIGIN, place, losses);
  items.push(item);
  return text === null ? [] : [{ type: 'text', text }];
}

/**
 * A text or a refusal, as all OpenAI formats write them. Undefined for another kind of part; null for a text part
 * without a text.
 */
export function textPartOf(
  part: JsonObject,
  place: string,
  losses: LossAccount,
): ContentPart | null | undefined {
  switch (part['type']) {
    case 'text':
    case 'input_text':
    case 'output_text': {
      const text = textField(part, 'text');
      return text === undefined ? null : { type: 'text', text };
    }
    case 'refusal':
      losses.approximate('a refusal, as text', place);
      return { type: 'text', text: textField(part, 'refusal') ?? '' };
    default:
      return undefined;
  }
}

/** The API that the part was written for. */
const ORIGIN = { provider: 'openai' } as const;

function knownPartOf(part: JsonObject, place: string, losses: LossAccount): ContentPart | null {
  const text = textPartOf(part, place, losses);
  if (text !== undefined) return text;
  switch (part['type']) {
    case 'image_url':
      return imagePartOf(part);
    case 'input_audio':
      return audioPartOf(part);
    case 'file':
      return filePartOf(part, place, losses);
    default:
      return null;
  }
}

function imagePartOf(part: JsonObject): ContentPart | null {
  const url = textField(part, 'image_url') ?? textField(objectField(part, 'image_url'), 'url');
  return url === undefined ? null : mediaPartOf(url, { kind: 'image' });
}

function audioPartOf(part: JsonObject): ContentPart | null {
  const { data, format } = objectField(part, 'input_audio');
  if (typeof data !== 'string') return null;
  const mime = `audio/${typeof format === 'string' ? format : 'wav'}`;
  return mediaPartOf(`data:${mime};base64,${data}`, { kind: 'audio', mime });
}

function filePartOf(part: JsonObject, place: string, losses: LossAccount): ContentPart | null {
  const file = objectField(part, 'file');
  const name = textField(file, 'filename');
  const data = textField(file, 'file_data');
  if (data !== undefined) return mediaPartOf(data, { kind: 'file', name });
  const id = textField(file, 'file_id');
  if (id === undefined) return null;
  losses.approximate('a file that only its provider has', place);
  return mediaPartOf(`openai-file:${id}`, { kind: 'file', name });
}
