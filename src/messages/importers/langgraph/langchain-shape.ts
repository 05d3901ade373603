/**
 * The three forms in which LangChain writes a message: its fields, the `{type, data}` of stores, and the serialized
 * constructor. All are treated as plain data: no class is looked up by a name from the data.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import { listField, textField } from '../reading/record-fields.js';

export type LangChainKind = 'user' | 'assistant' | 'system' | 'tool' | 'function' | 'other' | 'removal';

export interface LangChainMessage {
  readonly kind: LangChainKind;
  readonly fields: JsonObject;
}

const KINDS: ReadonlyMap<string, LangChainKind> = new Map([
  ['human', 'user'],
  ['user', 'user'],
  ['ai', 'assistant'],
  ['assistant', 'assistant'],
  ['system', 'system'],
  ['developer', 'system'],
  ['tool', 'tool'],
  ['function', 'function'],
  ['chat', 'other'],
  ['generic', 'other'],
  ['remove', 'removal'],
]);

/** Null for any other form. */
export function langChainMessageOf(json: JsonValue | undefined): LangChainMessage | null {
  if (!isJsonObject(json)) return null;
  const { type, data, kwargs } = json;
  if (type === 'constructor' && isJsonObject(kwargs)) {
    const name = listField(json, 'id').at(-1);
    return messageOf(typeof name === 'string' ? name : undefined, kwargs);
  }
  if (typeof type === 'string' && isJsonObject(data)) return messageOf(type, data);
  return messageOf(textField(json, 'type', 'role'), json);
}

function messageOf(name: string | undefined, fields: JsonObject): LangChainMessage | null {
  const kind = name === undefined ? undefined : KINDS.get(shortName(name));
  if (kind === undefined) return null;
  return { kind: kind === 'other' ? kindOfRole(fields) : kind, fields };
}

/** `AIMessageChunk` and `AIMessage` are `ai`. */
function shortName(name: string): string {
  return name.length > 40 ? name : name.replace(/Message(?:Chunk)?$/, '').toLowerCase();
}

function kindOfRole(fields: JsonObject): LangChainKind {
  return KINDS.get(textField(fields, 'role') ?? '') ?? 'other';
}

/** Whether it can only be a LangChain message: many formats have `type` and `content`. */
export function isCertainlyLangChain(json: JsonValue | undefined): boolean {
  const message = langChainMessageOf(json);
  if (!message || !isJsonObject(json) || 'uuid' in json) return false;
  if (message.fields !== json) return 'content' in message.fields || message.kind === 'removal';
  if (typeof json['type'] !== 'string' || !('content' in json)) return false;
  const isOfItsOwn = /^(?:human|ai|(?:human|ai|system|tool)messagechunk)$/i.test(json['type']);
  return isOfItsOwn || 'additional_kwargs' in json || 'response_metadata' in json;
}

/** Whether it may be a member of a list of such messages. */
export function mayBeLangChain(json: JsonValue | undefined): boolean {
  const message = langChainMessageOf(json);
  return message !== null && ('content' in message.fields || message.kind === 'removal');
}
