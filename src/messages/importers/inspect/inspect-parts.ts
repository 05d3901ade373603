/** The content of Inspect's messages: a text, or parts. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { ContentPart, Media, Origin, ReasoningItem } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { mediaPartOf } from '../reading/content-parts.js';
import { jsonTextOf } from '../reading/json-text.js';
import { isAbsent, signatureField, textField } from '../reading/record-fields.js';

export interface InspectContext {
  readonly place: string;
  readonly losses: LossAccount;
  readonly origin?: Origin | undefined;
}

const MEDIA: ReadonlyMap<unknown, Media['kind']> = new Map<unknown, Media['kind']>([
  ['image', 'image'],
  ['audio', 'audio'],
  ['video', 'video'],
  ['document', 'file'],
]);

export function inspectPartsOf(content: JsonValue | undefined, context: InspectContext): ContentPart[] {
  if (isAbsent(content)) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (Array.isArray(content))
    return content.flatMap((part, index) =>
      partOf(part, { ...context, place: `${context.place}/content/${index}` }),
    );
  context.losses.approximate('content of another type, as its JSON', context.place);
  return [{ type: 'text', text: jsonTextOf(content) }];
}

function partOf(part: JsonValue, context: InspectContext): ContentPart[] {
  if (typeof part === 'string') return [{ type: 'text', text: part }];
  if (!isJsonObject(part)) return dropped('a part of the content of another kind', context);
  switch (part['type']) {
    case 'text':
      return [textPart(part, context)];
    case 'reasoning':
      return [{ type: 'reasoning', reasoning: inspectThoughtOf(part, context.origin) }];
    case 'tool_use':
      return dropped('a tool that the provider ran itself', context);
    default:
      return mediaPart(part, context);
  }
}

function textPart(part: JsonObject, { losses, place }: InspectContext): ContentPart {
  if (part['refusal'] === true) losses.approximate('a refusal, as text', place);
  if (Array.isArray(part['citations']) && part['citations'].length > 0)
    losses.drop('the citations of a text', place);
  return { type: 'text', text: textField(part, 'text') ?? '' };
}

function mediaPart(part: JsonObject, context: InspectContext): ContentPart[] {
  const kind = MEDIA.get(part['type']);
  const ref = kind && textField(part, String(part['type']));
  if (kind === undefined || ref === undefined)
    return dropped('a part of the content of another kind', context);
  const format = textField(part, 'format');
  const mime = textField(part, 'mime_type') ?? (format === undefined ? undefined : `${kind}/${format}`);
  return [mediaPartOf(ref, { kind, mime, name: textField(part, 'filename') })];
}

/**
 * If the reasoning is redacted, its text is encrypted and the summary holds the readable part. The signature of OpenAI
 * reasoning is the id of its item.
 */
export function inspectThoughtOf(part: JsonObject, origin: Origin | undefined): ReasoningItem {
  const reasoning = textField(part, 'reasoning') ?? null;
  const signature = signatureField(part, 'signature');
  const isItemId = signature?.startsWith('rs_') === true;
  const from = origin ?? (isItemId ? { provider: 'openai' } : undefined);
  const marks = {
    ...(signature === undefined ? {} : isItemId ? { id: signature } : { signature }),
    ...(from === undefined ? {} : { origin: from }),
  };
  if (part['redacted'] !== true) return { text: reasoning, ...marks };
  const summary = textField(part, 'summary') ?? null;
  if (reasoning === null) return { text: summary, redacted: true, ...marks };
  return { text: summary, encrypted: reasoning, redacted: true, ...marks };
}

function dropped(what: string, { losses, place }: InspectContext): ContentPart[] {
  losses.drop(what, place);
  return [];
}
