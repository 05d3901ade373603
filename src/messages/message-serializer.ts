/**
 * Converts messages to and from their stored form: snake_case, empty fields left out.
 *
 * Also reads the full form (every key present, null if empty), the abbreviated form, and unknown fields, which it keeps
 * in `extra`. `messageFromJson(messageToJson(m))` equals `m`.
 */
import { RekindleError } from '../core/errors.js';
import { isJsonObject, type JsonArray, type JsonObject, type JsonValue, setOwn } from '../core/json.js';
import {
  type ContentPart,
  isToolCallPayload,
  MESSAGE_ROLES,
  type Message,
  type MessageRole,
  type Origin,
  type ProviderItem,
  type ReasoningItem,
  type ToolCallPayload,
  type ToolCallSpec,
  type ToolResultPayload,
} from './message.js';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const KNOWN = new Set([
  ...['role', 'content', 'reasoning_content', 'image_urls', 'audio_urls', 'video_urls', 'tool_payload'],
  ...[
    'parts',
    'reasoning',
    'provider_items',
    'origin',
    'message_id',
    'turn_id',
    'synthetic',
    'kind',
    'imported',
    'pinned',
    'status',
  ],
]);
const KNOWN_CALL = new Set(['id', 'name', 'arguments', 'arguments_text']);
const KNOWN_SIGNED_CALL = new Set([...KNOWN_CALL, 'signature']);
const KNOWN_RESULT = new Set(['tool_call_id', 'tool_name', 'tool_result', 'tool_error']);

/** A message in its stored form, as snapshots and traces hold it. */
export function messageToJson(message: Message): JsonObject {
  const json: JsonObject = { role: message.role };
  if (message.content !== null) json['content'] = message.content;
  if (message.parts) json['parts'] = message.parts as unknown as JsonArray;
  if (message.reasoningContent !== undefined) json['reasoning_content'] = message.reasoningContent;
  if (message.reasoning) json['reasoning'] = message.reasoning as unknown as JsonArray;
  if (message.imageUrls) json['image_urls'] = [...message.imageUrls];
  if (message.audioUrls) json['audio_urls'] = [...message.audioUrls];
  if (message.videoUrls) json['video_urls'] = [...message.videoUrls];
  if (message.toolPayload) json['tool_payload'] = payloadToJson(message.toolPayload);
  if (message.providerItems) json['provider_items'] = message.providerItems as unknown as JsonArray;
  if (message.origin) json['origin'] = message.origin as unknown as JsonObject;
  if (message.messageId !== undefined) json['message_id'] = message.messageId;
  if (message.turnId !== undefined) json['turn_id'] = message.turnId;
  if (message.synthetic) json['synthetic'] = true;
  if (message.kind) json['kind'] = message.kind;
  if (message.imported) json['imported'] = true;
  if (message.pinned) json['pinned'] = true;
  if (message.status) json['status'] = message.status;
  return message.extra ? { ...json, ...message.extra } : json;
}

export function callToJson(call: ToolCallSpec): JsonObject {
  const json: JsonObject = { id: call.id, name: call.name, arguments: call.arguments };
  if (call.argumentsText !== undefined) json['arguments_text'] = call.argumentsText;
  if (call.signature !== undefined) json['signature'] = call.signature;
  return call.extra ? { ...json, ...call.extra } : json;
}

export function resultToJson(result: ToolResultPayload): JsonObject {
  const json: JsonObject = { tool_call_id: result.toolCallId, tool_name: result.toolName };
  if (result.toolError === null || result.toolResult !== null) json['tool_result'] = result.toolResult;
  if (result.toolError !== null) json['tool_error'] = result.toolError;
  return result.extra ? { ...json, ...result.extra } : json;
}

function payloadToJson(payload: ToolCallPayload | ToolResultPayload): JsonObject {
  if (isToolCallPayload(payload)) return { tool_calls: payload.toolCalls.map(callToJson) };
  return resultToJson(payload as ToolResultPayload);
}

/** A message from its stored form. Does not apply the legality rules. @throws MESSAGE_INVALID, naming the field */
export function messageFromJson(json: JsonValue): Message {
  if (!isJsonObject(json)) throw invalid('message', 'an object');
  const role = json['role'];
  if (!MESSAGE_ROLES.includes(role as MessageRole)) throw invalid('role', MESSAGE_ROLES.join(', '));
  const message: Writable<Message> = {
    role: role as MessageRole,
    content: optionalText(json, 'content') ?? null,
  };
  readParts(json, message);
  const reasoningContent = optionalText(json, 'reasoning_content');
  if (reasoningContent !== undefined) message.reasoningContent = reasoningContent;
  readMedia(json, message);
  // Also for a role that must not have a payload: the legality rules move it to a message of its own (H1).
  if (json['tool_payload'] !== null && json['tool_payload'] !== undefined)
    message.toolPayload = payloadFromJson(json['tool_payload']);
  readProvenance(json, message);
  const extra = { ...unknownFields(json, KNOWN), ...unknownMarks(json, message) };
  if (Object.keys(extra).length > 0) message.extra = extra;
  return message;
}

/** Fields that are ours only if they have a certain shape, with their name in code. */
const SHAPED = [
  ['kind', 'kind'],
  ['status', 'status'],
  ['synthetic', 'synthetic'],
  ['imported', 'imported'],
  ['pinned', 'pinned'],
  ['origin', 'origin'],
  ['parts', 'parts'],
  ['reasoning', 'reasoning'],
  ['provider_items', 'providerItems'],
  ['tool_payload', 'toolPayload'],
] as const;

/** A field whose value is not one of ours (another tool's `kind`) is kept like an unknown field. */
function unknownMarks(json: JsonObject, message: Message): JsonObject {
  const marks: JsonObject = {};
  for (const [key, name] of SHAPED) {
    const value = json[key];
    const empty = value === undefined || value === null || value === false;
    if (!empty && !(Array.isArray(value) && value.length === 0) && message[name] === undefined)
      marks[key] = value;
  }
  return marks;
}

/** If not all parts are known, their text is still shown. */
function readParts(json: JsonObject, message: Writable<Message>): void {
  const parts = optionalList(json, 'parts') as unknown as ContentPart[] | undefined;
  if (parts?.every(isContentPart)) message.parts = parts;
  else if (parts && message.content === null) {
    const text = parts
      .filter((part) => part.type === 'text' && typeof part.text === 'string')
      .map(textOfPart);
    if (text.length > 0) message.content = text.join('');
  }
}

function textOfPart(part: ContentPart): string {
  return part.type === 'text' ? part.text : '';
}

function isContentPart(part: ContentPart): boolean {
  if (part.type === 'text') return typeof part.text === 'string' && isOptionalText(part.signature);
  if (part.type === 'reasoning') return isJsonObject(part.reasoning) && isReasoningItem(part.reasoning);
  if (part.type !== 'media') return false;
  const media: unknown = part.media;
  return (
    isJsonObject(media) &&
    MEDIA_KINDS.has(media['kind']) &&
    typeof media['ref'] === 'string' &&
    ['mime', 'name'].every((key) => isOptionalText(media[key])) &&
    ['bytes', 'width', 'height'].every((key) => media[key] === undefined || Number.isFinite(media[key]))
  );
}

const MEDIA_KINDS: ReadonlySet<JsonValue | undefined> = new Set(['image', 'audio', 'video', 'file']);

function isReasoningItem(item: ReasoningItem): boolean {
  const { text, signature, encrypted, origin } = item;
  return (
    (text === null || typeof text === 'string') &&
    isOptionalText(signature) &&
    isOptionalText(encrypted) &&
    (origin === undefined || isOrigin(origin))
  );
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

export function isOrigin(value: unknown): value is Origin {
  return isJsonObject(value) && typeof value['provider'] === 'string';
}

function readMedia(json: JsonObject, message: Writable<Message>): void {
  const images = urlList(json, 'image_urls');
  const audio = urlList(json, 'audio_urls');
  const video = urlList(json, 'video_urls');
  if (images) message.imageUrls = images;
  if (audio) message.audioUrls = audio;
  if (video) message.videoUrls = video;
}

function readProvenance(json: JsonObject, message: Writable<Message>): void {
  const reasoning = optionalList(json, 'reasoning') as unknown as ReasoningItem[] | undefined;
  if (reasoning?.every(isReasoningItem)) message.reasoning = reasoning;
  const items = optionalList(json, 'provider_items') as unknown as ProviderItem[] | undefined;
  if (items?.every((item) => isOrigin(item.origin) && item.item !== undefined)) message.providerItems = items;
  if (isOrigin(json['origin'])) message.origin = json['origin'];
  const messageId = optionalText(json, 'message_id');
  if (messageId !== undefined) message.messageId = messageId;
  const turnId = optionalText(json, 'turn_id');
  if (turnId !== undefined) message.turnId = turnId;
  if (json['synthetic'] === true) message.synthetic = true;
  const { kind } = json;
  if (kind === 'memory' || kind === 'recall') message.kind = kind;
  if (json['imported'] === true) message.imported = true;
  if (json['pinned'] === true) message.pinned = true;
  if (json['status'] === 'aborted' || json['status'] === 'failed') message.status = json['status'];
}

function payloadFromJson(json: JsonValue): ToolCallPayload | ToolResultPayload {
  if (!isJsonObject(json)) throw invalid('tool_payload', 'an object');
  if (Array.isArray(json['tool_calls'])) return { toolCalls: json['tool_calls'].map(callFromJson) };
  return resultFromJson(json);
}

export function callFromJson(json: JsonValue): ToolCallSpec {
  if (!isJsonObject(json)) throw invalid('tool_calls', 'objects');
  const text = optionalText(json, 'arguments_text');
  const call: Writable<ToolCallSpec> = {
    id: requiredText(json, 'id'),
    name: requiredText(json, 'name'),
    // If there is only the model's text, H8 makes the arguments from it.
    arguments: json['arguments'] ?? (text === undefined ? {} : null),
  };
  if (text !== undefined) call.argumentsText = text;
  const { signature } = json;
  if (typeof signature === 'string') call.signature = signature;
  const extra = unknownFields(json, typeof signature === 'string' ? KNOWN_SIGNED_CALL : KNOWN_CALL);
  if (extra) call.extra = extra;
  return call;
}

export function resultFromJson(json: JsonObject): ToolResultPayload {
  const result: Writable<ToolResultPayload> = {
    toolCallId: requiredText(json, 'tool_call_id'),
    toolName: optionalText(json, 'tool_name') ?? '',
    toolResult: json['tool_result'] ?? null,
    toolError: optionalText(json, 'tool_error') ?? null,
  };
  const extra = unknownFields(json, KNOWN_RESULT);
  if (extra) result.extra = extra;
  return result;
}

/** The fields that are not known, or undefined if there are none. */
export function unknownFields(json: JsonObject, known: ReadonlySet<string>): JsonObject | undefined {
  let extra: JsonObject | undefined;
  for (const key in json) {
    if (known.has(key)) continue;
    extra ??= {};
    setOwn(extra, key, json[key]!);
  }
  return extra;
}

function urlList(json: JsonObject, key: string): string[] | undefined {
  const list = json[key];
  if (list === undefined || list === null) return undefined;
  if (!Array.isArray(list) || !list.every((url) => typeof url === 'string'))
    throw invalid(key, 'a list of texts');
  return list.length === 0 ? undefined : list;
}

function optionalList(json: JsonObject, key: string): JsonArray | undefined {
  const list = json[key];
  if (list === undefined || list === null) return undefined;
  if (!Array.isArray(list) || !list.every(isJsonObject)) throw invalid(key, 'a list of objects');
  return list.length === 0 ? undefined : list;
}

function optionalText(json: JsonObject, key: string): string | undefined {
  const text = json[key];
  if (text === undefined || text === null) return undefined;
  if (typeof text !== 'string') throw invalid(key, 'a text');
  return text;
}

function requiredText(json: JsonObject, key: string): string {
  const text = optionalText(json, key);
  if (text === undefined) throw invalid(key, 'a text');
  return text;
}

function invalid(field: string, wanted: string): RekindleError {
  return new RekindleError('MESSAGE_INVALID', `The message field \`${field}\` must be ${wanted}.`, {
    details: { field, wanted },
  });
}
