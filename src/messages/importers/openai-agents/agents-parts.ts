/** Content of Responses API items, in the spelling of the wire format and of the JavaScript Agents SDK. */

import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, ReasoningItem } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { textPartOf } from '../openai-chat/chat-parts.js';
import { mediaPartOf } from '../reading/content-parts.js';
import { jsonTextOf } from '../reading/json-text.js';
import { textOfBlock } from '../reading/opaque-blocks.js';
import { isAbsent, listField, objectField, textField } from '../reading/record-fields.js';

export function agentsPartsOf(
  content: JsonValue | undefined,
  place: string,
  losses: LossAccount,
): ContentPart[] {
  if (isAbsent(content)) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const list = Array.isArray(content) ? content : [content];
  return list.flatMap((part, index) => {
    const read = isJsonObject(part) ? partOf(part, place, losses) : null;
    if (read) return [read];
    const text = textOfBlock(part);
    losses.approximate('a part of the content of another kind, as its text', `${place}/content/${index}`);
    return [{ type: 'text', text: text ?? jsonTextOf(part) }];
  });
}

function partOf(part: JsonObject, place: string, losses: LossAccount): ContentPart | null {
  const text = textPartOf(part, place, losses);
  if (text !== undefined) return text;
  switch (part['type']) {
    case 'image':
    case 'input_image':
      return mediaFrom(part, 'image', ['image', 'image_url', 'imageUrl', 'data']);
    case 'audio':
    case 'input_audio':
      return mediaFrom(part, 'audio', ['audio', 'data']);
    case 'file':
    case 'input_file':
      return mediaFrom(part, 'file', ['file', 'file_data', 'fileData', 'file_url', 'fileUrl']);
    default:
      return null;
  }
}

/** A URL, base64 bytes, or the id of a file that is stored only at the provider. */
function mediaFrom(part: JsonObject, kind: 'image' | 'audio' | 'file', keys: string[]): ContentPart | null {
  const inner = objectField(part, ...keys, 'input_audio');
  const ref = textField(part, ...keys) ?? textField(inner, 'url', 'data');
  const name = textField(part, 'filename') ?? textField(inner, 'filename');
  const mime = textField(inner, 'mediaType') ?? mimeOf(kind, textField(inner, 'format'));
  if (ref !== undefined) {
    const isUrl = /^[a-z][a-z0-9+.-]*:/i.test(ref.slice(0, 32));
    return mediaPartOf(isUrl ? ref : `data:${mime ?? UNKNOWN_MIME};base64,${ref}`, { kind, mime, name });
  }
  const id = textField(part, 'file_id', 'fileId') ?? textField(inner, 'id', 'file_id');
  return id === undefined ? null : mediaPartOf(`openai-file:${id}`, { kind, name });
}

const UNKNOWN_MIME = 'application/octet-stream';

function mimeOf(kind: string, format: string | undefined): string | undefined {
  if (format !== undefined) return `${kind}/${format}`;
  return kind === 'image' ? 'image/png' : undefined;
}

/** The summary is the readable text; the reasoning itself is encrypted. */
export function agentsReasoningOf(item: JsonObject): ReasoningItem {
  const summary = textsOf([...listField(item, 'summary'), ...listField(item, 'content')]);
  const raw = summary.length > 0 ? summary : textsOf(listField(item, 'rawContent', 'raw_content'));
  const provider = objectField(item, 'providerData', 'provider_data');
  const encrypted =
    textField(item, 'encrypted_content', 'encryptedContent') ??
    textField(provider, 'encrypted_content', 'encryptedContent');
  const id = textField(item, 'id');
  return {
    text: raw.length > 0 ? raw.join('\n\n') : null,
    ...(encrypted === undefined ? {} : { encrypted }),
    ...(id === undefined ? {} : { id }),
    origin: { provider: 'openai' },
  };
}

function textsOf(list: readonly JsonValue[]): string[] {
  return list.flatMap((part) => (isJsonObject(part) ? [textField(part, 'text') ?? ''] : [])).filter(Boolean);
}
