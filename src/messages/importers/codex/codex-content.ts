/** Content of Codex items: the texts, images and files of messages, outputs of tools, and reasoning. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, Origin, ReasoningItem } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { mediaPartOf } from '../reading/content-parts.js';
import { listField, objectField, textField } from '../reading/record-fields.js';

const TEXTS: ReadonlySet<JsonValue | undefined> = new Set([
  'input_text',
  'output_text',
  'text',
  'summary_text',
]);
const IMAGES: ReadonlySet<JsonValue | undefined> = new Set(['input_image', 'image', 'image_url']);

/** A text, or a list of parts. Anything else is counted as dropped. */
export function codexPartsOf(
  content: JsonValue | undefined,
  losses: LossAccount,
  place: string,
): ContentPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) {
    if (content !== undefined && content !== null) losses.drop('content of an unknown kind', place);
    return [];
  }
  return content.flatMap((part) => {
    const known = isJsonObject(part) ? partOf(part) : undefined;
    if (!known) losses.drop('content of an unknown kind', place);
    return known ?? [];
  });
}

function partOf(part: JsonObject): ContentPart | undefined {
  const { type } = part;
  if (TEXTS.has(type) && typeof part['text'] === 'string') return { type: 'text', text: part['text'] };
  if (type === 'refusal' && typeof part['refusal'] === 'string')
    return { type: 'text', text: part['refusal'] };
  if (IMAGES.has(type)) return imageOf(part);
  const ref = type === 'input_file' ? textField(part, 'file_data', 'file_url') : undefined;
  return ref === undefined
    ? undefined
    : mediaPartOf(ref, { kind: 'file', name: textField(part, 'filename') });
}

function imageOf(part: JsonObject): ContentPart | undefined {
  const mime = textField(part, 'mimeType', 'mime_type');
  const data = textField(part, 'data');
  const url = textField(part, 'image_url') ?? textField(objectField(part, 'image_url'), 'url');
  const ref = url ?? (data === undefined ? undefined : `data:${mime ?? 'image/png'};base64,${data}`);
  return ref === undefined ? undefined : mediaPartOf(ref, { kind: 'image', mime });
}

export function codexTextOf(parts: readonly ContentPart[], between = ''): string {
  return parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join(between);
}

export interface CodexOutput {
  readonly result: JsonValue;
  readonly media: readonly ContentPart[];
  readonly failed: boolean;
}

/** Usually a text; parts if a tool returned an image. Some versions wrapped either in an object. */
export function codexOutputOf(
  output: JsonValue | undefined,
  losses: LossAccount,
  place: string,
): CodexOutput {
  const wrapped = isJsonObject(output) && ('success' in output || 'isError' in output) ? output : undefined;
  const failed = wrapped?.['success'] === false || wrapped?.['isError'] === true;
  const inner = wrapped ? (wrapped['content_items'] ?? wrapped['content']) : output;
  if (!Array.isArray(inner)) return { result: inner ?? null, media: [], failed };
  const parts = codexPartsOf(inner, losses, place);
  const media = parts.filter((part) => part.type === 'media');
  return { result: codexTextOf(parts, '\n'), media, failed };
}

/** The reasoning itself stays encrypted; only its summary is readable. */
export function codexReasoningOf(
  item: JsonObject,
  origin: Origin,
  losses: LossAccount,
  place: string,
): ReasoningItem {
  const summary = codexPartsOf(listField(item, 'summary') as JsonValue, losses, place);
  const raw = listField(item, 'content').flatMap((part) =>
    isJsonObject(part) ? (textField(part, 'text') ?? []) : [],
  );
  if (summary.length > 1) losses.approximate('parts of a summary of reasoning, joined', place);
  if (summary.length > 0 && raw.length > 0) losses.drop('text of reasoning beside its summary', place);
  const text = summary.length > 0 ? codexTextOf(summary, '\n\n') : raw.join('\n\n');
  const encrypted = textField(item, 'encrypted_content');
  const id = textField(item, 'id');
  return {
    text: summary.length + raw.length === 0 ? null : text,
    ...(encrypted === undefined ? {} : { encrypted }),
    ...(id === undefined || id === '' ? {} : { id }),
    origin,
  };
}
