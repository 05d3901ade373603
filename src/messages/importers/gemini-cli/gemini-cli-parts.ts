/** Parts of the Gemini API as Gemini CLI writes them: a text, one part, or a list of both. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, Origin, ReasoningItem } from '../../message.js';
import { mediaPartOf } from '../reading/content-parts.js';
import { listField, objectField, signatureField, textField } from '../reading/record-fields.js';

/** The content of a record. Anything but a part is passed on, to be counted as a loss. */
export function geminiPartsOf(record: JsonObject): readonly JsonValue[] {
  const content = record['content'] ?? record['parts'];
  if (typeof content === 'string') return [{ text: content }];
  if (!Array.isArray(content)) return isJsonObject(content) ? [content] : [];
  return content.map((part) => (typeof part === 'string' ? { text: part } : part));
}

export function geminiMediaOf(part: JsonObject): ContentPart | undefined {
  const inline = objectField(part, 'inlineData');
  const file = objectField(part, 'fileData');
  const mime = textField(inline, 'mimeType') ?? textField(file, 'mimeType') ?? 'application/octet-stream';
  const name = textField(inline, 'displayName') ?? textField(file, 'displayName');
  const data = textField(inline, 'data');
  const ref = data === undefined ? textField(file, 'fileUri') : `data:${mime};base64,${data}`;
  return ref === undefined ? undefined : mediaPartOf(ref, { mime, name });
}

/** Text, media or reasoning; undefined for other parts. */
export function geminiContentOf(part: JsonObject, origin: Origin): ContentPart | undefined {
  const text = textField(part, 'text');
  if (text === undefined) return geminiMediaOf(part);
  const signature = signatureField(part, 'thoughtSignature');
  const signed = signature === undefined ? {} : { signature };
  if (part['thought'] === true) return { type: 'reasoning', reasoning: { text, ...signed, origin } };
  return { type: 'text', text, ...signed };
}

/** Summaries of the model's thoughts, in the form that the model gives them. */
export function geminiThoughts(record: JsonObject, origin: Origin): ReasoningItem[] {
  return listField(record, 'thoughts')
    .filter(isJsonObject)
    .flatMap((thought) => {
      const subject = textField(thought, 'subject') ?? '';
      const lines = [subject === '' ? '' : `**${subject}**`, textField(thought, 'description') ?? ''];
      const text = lines.filter((line) => line !== '').join('\n');
      return text === '' ? [] : [{ text, origin }];
    });
}
