/** The content of Letta's messages: text, images, and reasoning in the forms of the providers. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, Origin, ReasoningItem } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { mediaPartOf } from '../reading/content-parts.js';
import { listField, objectField, signatureField, textField } from '../reading/record-fields.js';

export interface LettaContext {
  readonly place: string;
  readonly losses: LossAccount;
  readonly origin?: Origin | undefined;
}

export function lettaPartsOf(json: JsonObject, context: LettaContext): ContentPart[] {
  const text = textField(json, 'content', 'text');
  if (text !== undefined && !Array.isArray(json['content'])) return [{ type: 'text', text }];
  return listField(json, 'content').flatMap((part, index) =>
    partOf(part, { ...context, place: `${context.place}/content/${index}` }),
  );
}

function partOf(part: JsonValue, context: LettaContext): ContentPart[] {
  if (typeof part === 'string') return [{ type: 'text', text: part }];
  if (!isJsonObject(part)) return dropped('a part of the content of another kind', context);
  switch (part['type']) {
    case 'text':
      return textPart(part);
    case 'image':
      return imagePart(objectField(part, 'source'), context);
    case 'tool_call': // read with the calls
    case 'tool_return': // read with the results
      return [];
    case 'omitted_reasoning':
      return dropped('reasoning that the provider did not give out', context);
    default:
      return reasoningPart(part, context);
  }
}

function textPart(part: JsonObject): ContentPart[] {
  const signature = signatureField(part, 'signature');
  return [
    { type: 'text', text: textField(part, 'text') ?? '', ...(signature === undefined ? {} : { signature }) },
  ];
}

function imagePart(source: JsonObject, context: LettaContext): ContentPart[] {
  const url = textField(source, 'url');
  const data = textField(source, 'data');
  const mime = textField(source, 'media_type');
  if (data !== undefined)
    return [mediaPartOf(`data:${mime ?? 'image/png'};base64,${data}`, { kind: 'image', mime })];
  if (url !== undefined) return [mediaPartOf(url, { kind: 'image', mime })];
  return dropped('an image whose bytes are not here', context);
}

function reasoningPart(part: JsonObject, context: LettaContext): ContentPart[] {
  const item = reasoningOf(part);
  if (!item) return dropped('a part of the content of another kind', context);
  const { origin } = context;
  return [{ type: 'reasoning', reasoning: origin === undefined ? item : { ...item, origin } }];
}

function reasoningOf(part: JsonObject): ReasoningItem | null {
  switch (part['type']) {
    case 'reasoning': {
      const signature = signatureField(part, 'signature');
      return {
        text: textField(part, 'reasoning') ?? null,
        ...(signature === undefined ? {} : { signature }),
      };
    }
    case 'redacted_reasoning':
      return { text: null, encrypted: textField(part, 'data') ?? '', redacted: true };
    case 'summarized_reasoning':
      return summarised(part);
    default:
      return null;
  }
}

function summarised(part: JsonObject): ReasoningItem {
  const texts = listField(part, 'summary').map((piece) =>
    isJsonObject(piece) ? (textField(piece, 'text') ?? '') : '',
  );
  const encrypted = textField(part, 'encrypted_content');
  const id = textField(part, 'id');
  return {
    text: texts.length > 0 ? texts.join('\n\n') : null,
    ...(encrypted === undefined ? {} : { encrypted }),
    ...(id === undefined ? {} : { id }),
  };
}

function dropped(what: string, { losses, place }: LettaContext): ContentPart[] {
  losses.drop(what, place);
  return [];
}
