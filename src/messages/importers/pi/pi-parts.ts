/** Content of pi messages: texts, images, signed thinking, and the provider that made them. */
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '../../../core/json.js';
import type { ContentPart, Origin, ReasoningItem, ToolCallSpec } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { mediaPartOf } from '../reading/content-parts.js';
import { argumentsFrom, argumentsFromText } from '../reading/open-calls.js';
import { idText, listField, signatureField, textField } from '../reading/record-fields.js';

/** Services that belong to one maker. A reseller keeps its own name, because it accepts only what it signed itself. */
const MAKERS: readonly (readonly [RegExp, string])[] = [
  [/^anthropic/, 'anthropic'],
  [/^(?:azure-)?openai/, 'openai'],
  [/^(?:google|gemini)/, 'google'],
];

export function piOrigin(message: JsonObject, byDefault: Origin | undefined): Origin | undefined {
  const named = textField(message, 'provider');
  const model = textField(message, 'model', 'modelId');
  if (named === undefined) return byDefault;
  const provider = MAKERS.find(([pattern]) => pattern.test(named))?.[1] ?? named;
  return { provider, ...(model === undefined ? {} : { model }) };
}

/** Texts and images; the caller handles other blocks. A plain text counts as a block. */
export function piBlocks(content: JsonValue | undefined): readonly JsonValue[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content : [];
}

export function piTextOrImage(block: JsonObject, origin?: Origin): ContentPart | undefined {
  if (block['type'] === 'text' && typeof block['text'] === 'string') {
    const signature = origin?.provider === 'google' ? signatureField(block, 'textSignature') : undefined;
    return { type: 'text', text: block['text'], ...(signature === undefined ? {} : { signature }) };
  }
  if (block['type'] !== 'image' || typeof block['data'] !== 'string') return undefined;
  return mediaPartOf(`data:${textField(block, 'mimeType') ?? 'image/png'};base64,${block['data']}`, {
    kind: 'image',
  });
}

/** For answers of the Responses API, the signature is the whole reasoning item as JSON. */
export function piReasoning(block: JsonObject, api: string, origin: Origin | undefined): ReasoningItem {
  const text = textField(block, 'thinking') ?? null;
  const signature = signatureField(block, 'thinkingSignature');
  const from = origin === undefined ? {} : { origin };
  if (signature === undefined) return { text, ...from };
  if (block['redacted'] === true) return { text: null, encrypted: signature, redacted: true, ...from };
  const item = signature.startsWith('{') ? tryParseJson(signature) : undefined;
  if (isJsonObject(item) && item['type'] === 'reasoning') {
    const id = textField(item, 'id');
    const encrypted = textField(item, 'encrypted_content');
    return {
      text,
      ...(encrypted === undefined ? {} : { encrypted }),
      ...(id === undefined ? {} : { id }),
      ...from,
    };
  }
  // For this API it is only the name of the field that held the text.
  return api === 'openai-completions' ? { text, ...from } : { text, signature, ...from };
}

/** For a call that was cut off, pi stores its guess at the arguments and the received text. Only the received text is certain. */
export function piCall(
  block: JsonObject,
  isCutOff: boolean,
  losses: LossAccount,
  place: string,
): ToolCallSpec {
  const partial = isCutOff ? textField(block, 'partialJson') : undefined;
  const isTorn = partial !== undefined && partial !== '' && !isJsonObject(tryParseJson(partial));
  if (isTorn) losses.approximate('arguments that were cut off, as the text that had come', place);
  const signature = signatureField(block, 'thoughtSignature');
  return {
    id: idText(block['id']),
    name: textField(block, 'name') ?? '',
    ...(isTorn ? argumentsFromText(partial) : argumentsFrom(block['arguments'])),
    ...(signature === undefined ? {} : { signature }),
  };
}

/** Joined texts, with images next to them. */
export function piResultContent(
  message: JsonObject,
  losses: LossAccount,
  place: string,
): { readonly text: string; readonly parts: readonly ContentPart[] } {
  const texts: string[] = [];
  const parts: ContentPart[] = [];
  const content = typeof message['content'] === 'string' ? message['content'] : listField(message, 'content');
  for (const block of piBlocks(content as JsonValue)) {
    const part = isJsonObject(block) ? piTextOrImage(block) : undefined;
    if (part?.type === 'text') texts.push(part.text);
    else if (part) parts.push(part);
    else losses.drop('content of an unknown kind', place);
  }
  return { text: texts.join('\n'), parts };
}
