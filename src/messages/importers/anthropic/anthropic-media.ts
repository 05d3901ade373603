/** Images and documents of Anthropic blocks: bytes become a data URL, URLs stay URLs. */
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { ContentPart } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { mediaPartOf } from '../reading/content-parts.js';
import { listField, objectField, textField } from '../reading/record-fields.js';

const KINDS: ReadonlySet<unknown> = new Set(['image', 'document']);

export function isMediaBlock(block: JsonObject): boolean {
  return KINDS.has(block['type']);
}

/** Empty if the bytes have no known form. A file stored at the provider is named by its id. */
export function mediaPartsFrom(block: JsonObject, place: string, losses: LossAccount): ContentPart[] {
  const source = objectField(block, 'source');
  const kind = block['type'] === 'image' ? 'image' : 'file';
  const name = textField(block, 'title');
  const data = textField(source, 'data');
  if (source['type'] === 'text' && data !== undefined) return [documentText(data, place, losses)];
  if (source['type'] === 'content') return documentParts(source, place, losses);
  const url = textField(source, 'url');
  if (source['type'] === 'url' && url !== undefined) return [mediaPartOf(url, { kind, name })];
  const id = textField(source, 'file_id');
  if (data === undefined && id !== undefined) {
    losses.approximate(
      `${block['type'] === 'image' ? 'image' : 'document'} that only its provider has`,
      place,
    );
    return [mediaPartOf(`anthropic-file:${id}`, { kind, name })];
  }
  if (data === undefined) return [];
  const mime = textField(source, 'media_type') ?? (kind === 'image' ? 'image/png' : 'application/pdf');
  return [mediaPartOf(`data:${mime};base64,${data}`, { kind, mime, name })];
}

function documentText(text: string, place: string, losses: LossAccount): ContentPart {
  losses.approximate('document of plain text, kept as text', place);
  return { type: 'text', text };
}

function documentParts(source: JsonObject, place: string, losses: LossAccount): ContentPart[] {
  const whole = textField(source, 'content');
  if (whole !== undefined) return [documentText(whole, place, losses)];
  return listField(source, 'content').flatMap((block) => {
    if (!isJsonObject(block)) return [];
    const text = textField(block, 'text');
    if (text !== undefined) return [documentText(text, place, losses)];
    const isNested = objectField(block, 'source')['type'] === 'content'; // a document in a document is not followed
    return isMediaBlock(block) && !isNested ? mediaPartsFrom(block, place, losses) : [];
  });
}
