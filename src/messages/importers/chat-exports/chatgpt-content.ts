/** The content of ChatGPT's messages, as texts: an export has no bytes of images and recordings. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { Origin, ReasoningItem } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { textOfBlock } from '../reading/opaque-blocks.js';
import { listField, textField } from '../reading/record-fields.js';

const IMAGE = 'image_asset_pointer';
const RECORDINGS: ReadonlySet<JsonValue | undefined> = new Set([
  'audio_asset_pointer',
  'video_container_asset_pointer',
  'real_time_user_audio_video_asset_pointer',
]);
/** Fields with text, by the type of the content. */
const FIELDS: ReadonlyMap<JsonValue | undefined, readonly string[]> = new Map([
  ['code', ['text']],
  ['execution_output', ['text']],
  ['system_error', ['name', 'text']],
  ['tether_quote', ['title', 'url', 'text']],
  ['tether_browsing_display', ['result', 'summary']],
  ['user_editable_context', ['user_profile', 'user_instructions']],
  ['model_editable_context', ['model_set_context']],
]);
/** Contents that the page wraps in words of its own before the model gets them. */
const CONTEXTS: ReadonlySet<JsonValue | undefined> = new Set([
  'user_editable_context',
  'model_editable_context',
]);

/** The texts of a message; empty if there are none but blank ones. */
export function textsOf(content: JsonObject, place: string, losses: LossAccount): string[] {
  const type = content['content_type'];
  const fields = FIELDS.get(type);
  const texts = fields
    ? fields.map((field) => textField(content, field) ?? '').filter((text) => text !== '')
    : Array.isArray(content['parts'])
      ? content['parts'].flatMap((part, index) => textOfPart(part, `${place}/parts/${index}`, losses))
      : otherTexts(content, place, losses);
  if (texts.every((text) => text.trim() === '')) return [];
  if (CONTEXTS.has(type)) losses.approximate('a text about the user, as a message', place);
  return fields ? [texts.join('\n')] : texts;
}

function otherTexts(content: JsonObject, place: string, losses: LossAccount): string[] {
  const text = textField(content, 'text') ?? textOfBlock(content);
  if (text === null) return [];
  losses.approximate('content of another type, as its text', place);
  return [text];
}

function textOfPart(part: JsonValue, place: string, losses: LossAccount): string[] {
  if (typeof part === 'string') return [part];
  const type = isJsonObject(part) ? part['content_type'] : undefined;
  if (!isJsonObject(part) || RECORDINGS.has(type)) {
    losses.drop('a recording or another part that the export does not contain', place);
    return [];
  }
  if (type === IMAGE) {
    losses.approximate('an image that the export does not contain, as a line of text', place);
    return [`[image: ${textField(part, 'asset_pointer') ?? 'not named'}]`];
  }
  const text = textField(part, 'text') ?? textOfBlock(part);
  if (type === 'audio_transcription') losses.approximate('speech, as its transcript', place);
  else if (text === null) losses.drop('a recording or another part that the export does not contain', place);
  else losses.approximate('a part of another type, as its text', place);
  return text === null ? [] : [text];
}

/** Newer exports have a list of thoughts, older ones texts. */
export function thoughtsOf(content: JsonObject, origin: Origin): ReasoningItem[] {
  const given = [...listField(content, 'thoughts'), ...listField(content, 'parts')];
  const texts = given.map((thought) =>
    isJsonObject(thought) ? (textField(thought, 'content', 'summary') ?? '') : thought,
  );
  return texts
    .filter((text): text is string => typeof text === 'string' && text.trim() !== '')
    .map((text) => ({ text, origin }));
}
