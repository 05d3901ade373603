/** Converts traces to and from journal rows. The only place that knows both spellings. */
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '../../core/json.js';
import { Type } from '../../core/schema.js';
import { lazySchema } from '../../core/schema-check.js';
import type { Message } from '../../messages/message.js';
import {
  callFromJson,
  callToJson,
  messageFromJson,
  messageToJson,
  resultFromJson,
  resultToJson,
} from '../../messages/message-serializer.js';
import { episodicFromJson, episodicToJson, semanticFromJson, semanticToJson } from './memory-items.js';
import type { Boundary, Trace } from './trace.js';

/** Fields that every row has, in every format version. Fields of single types are checked where they are read. */
const rowCheck = lazySchema(
  Type.Object({
    id: Type.String(),
    ts: Type.Number(),
    turn_id: Type.String(),
    seq: Type.Number(),
    trace_type: Type.String({ minLength: 1 }),
    source_event: Type.Optional(Type.String()),
  }),
);

/** The journal row of a trace, without `_seq` and `_crc`. */
export function traceToJson(trace: Trace): JsonObject {
  const head: JsonObject = {
    id: trace.id,
    ts: trace.ts,
    turn_id: trace.turnId,
    seq: trace.seq,
    trace_type: trace.type === 'foreign' ? trace.traceType : trace.type,
    source_event: trace.sourceEvent,
  };
  return { ...head, ...bodyToJson(trace) };
}

function bodyToJson(trace: Trace): JsonObject {
  switch (trace.type) {
    case 'user':
    case 'assistant':
      return {
        ...messageBody(trace.message),
        ...(trace.inputId === undefined ? {} : { input_id: trace.inputId }),
      };
    case 'recall':
      return messageBody(trace.message);
    case 'tool_call':
      return {
        ...callBody(trace.call),
        ...(trace.messageId === undefined ? {} : { message_id: trace.messageId }),
      };
    case 'tool_result':
      return {
        ...resultBody(trace.result),
        ...(trace.parts ? { parts: trace.parts as unknown as JsonArray } : {}),
        ...(trace.synthetic ? { synthetic: true } : {}),
      };
    case 'compaction':
      return {
        epoch_id: trace.epochId,
        last_compaction_ts: trace.lastCompactionTs,
        last_turn: trace.lastTurn,
        messages: trace.messages.map(messageToJson),
        episodic: trace.episodic.map(episodicToJson),
        semantic: trace.semantic.map(semanticToJson),
      };
    case 'boundary':
      return boundaryToJson(trace.boundary);
    case 'journal':
      return { agent_id: trace.agentId, reader: trace.reader };
    case 'foreign':
      return trace.row;
  }
}

function messageBody(message: Message): JsonObject {
  const { role, turn_id, ...body } = messageToJson(message);
  // AutoByteus always writes a content, so absent content must be distinguished from an empty one.
  const isAbsent = message.content === null && message.role === 'assistant' && !message.parts;
  return isAbsent ? body : { ...body, content: message.content ?? '' };
}

function callBody(call: Parameters<typeof callToJson>[0]): JsonObject {
  const { id, name, arguments: args, arguments_text: text, signature, ...extra } = callToJson(call);
  return {
    tool_call_id: id!,
    tool_name: name!,
    tool_args: args!,
    ...(text === undefined ? {} : { tool_args_text: text }),
    ...(signature === undefined ? {} : { signature }),
    ...(Object.keys(extra).length === 0 ? {} : { tool_extra: extra }),
  };
}

function resultBody(result: Parameters<typeof resultToJson>[0]): JsonObject {
  const { extra, ...known } = result;
  return { ...resultToJson(known), ...(extra ? { tool_extra: extra } : {}) };
}

function boundaryToJson(boundary: Boundary): JsonObject {
  switch (boundary.kind) {
    case 'system':
      return { boundary: 'system', system_prompt: boundary.systemPrompt };
    case 'base':
      return {
        boundary: 'base',
        reason: boundary.reason,
        epoch_id: boundary.epochId,
        last_compaction_ts: boundary.lastCompactionTs,
        last_turn: boundary.lastTurn,
        messages: boundary.messages.map(messageToJson),
      };
    case 'repair':
      return {
        boundary: 'repair',
        at: boundary.at,
        delete_count: boundary.deleteCount,
        insert: boundary.insert.map(messageToJson),
        codes: [...boundary.codes],
      };
    case 'edit':
      return {
        boundary: 'edit',
        rung: boundary.rung,
        edits: boundary.edits.map(({ at, message }) => ({ at, message: messageToJson(message) })),
      };
    case 'compaction_failed':
      return { boundary: 'compaction_failed', reason: boundary.reason };
  }
}

/** Numbers with too many digits are read as text; in the envelope such a time is converted back to a number. */
function withNumbers(row: JsonObject): JsonObject {
  const { ts, seq } = row;
  if (typeof ts !== 'string' && typeof seq !== 'string') return row;
  return {
    ...row,
    ...(isDigits(ts) ? { ts: Number(ts) } : {}),
    ...(isDigits(seq) ? { seq: Number(seq) } : {}),
  };
}

function isDigits(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && /^-?\d{16,}$/.test(value);
}

/** A trace from its journal row. Unknown types become `foreign` traces. @throws MESSAGE_INVALID for a row that is not a trace */
export function traceFromJson(given: JsonObject): Trace {
  const row = withNumbers(given);
  const check = rowCheck();
  if (!check(row)) {
    const [first] = check.violations();
    throw new RekindleError(
      'MESSAGE_INVALID',
      `The row is not a trace: ${first?.path || 'it'} ${first?.message}.`,
      {
        details: { violations: check.violations().map((violation) => ({ ...violation })) },
      },
    );
  }
  const envelope = {
    id: row['id'] as string,
    ts: row['ts'] as number,
    turnId: row['turn_id'] as string,
    seq: row['seq'] as number,
    sourceEvent: (row['source_event'] as string | undefined) ?? '',
  };
  return { ...envelope, ...bodyFromJson(row) } as Trace;
}

/** Null for a row that is not a trace. */
export function tryTraceFromJson(row: JsonObject): Trace | null {
  try {
    return traceFromJson(row);
  } catch {
    return null;
  }
}

type Body = Trace extends infer T
  ? T extends Trace
    ? Omit<T, 'id' | 'ts' | 'turnId' | 'seq' | 'sourceEvent'>
    : never
  : never;

function bodyFromJson(row: JsonObject): Body {
  switch (row['trace_type']) {
    case 'user':
    case 'assistant':
      return {
        type: row['trace_type'],
        message: messageOf(row, row['trace_type']),
        ...(typeof row['input_id'] === 'string' ? { inputId: row['input_id'] } : {}),
      };
    case 'recall':
      // The type of the row decides, whatever its `kind` says; a message can have only one.
      return { type: 'recall', message: messageOf({ ...row, kind: 'recall' }, 'user') };
    case 'tool_call':
      return {
        type: 'tool_call',
        call: callOf(row),
        ...(typeof row['message_id'] === 'string' ? { messageId: row['message_id'] } : {}),
      };
    case 'tool_result':
      return {
        type: 'tool_result',
        result: resultOf(row),
        ...(Array.isArray(row['parts']) && row['parts'].length > 0
          ? { parts: row['parts'] as unknown as NonNullable<Message['parts']> }
          : {}),
        ...(row['synthetic'] === true ? { synthetic: true } : {}),
      };
    case 'compaction':
      return {
        type: 'compaction',
        epochId: integerOf(row, 'epoch_id'),
        lastCompactionTs: typeof row['last_compaction_ts'] === 'number' ? row['last_compaction_ts'] : 0,
        lastTurn: integerOf(row, 'last_turn'),
        messages: listOf(row, 'messages').map(messageFromJson),
        episodic: listOf(row, 'episodic').map(episodicFromJson),
        semantic: listOf(row, 'semantic').map(semanticFromJson),
      };
    case 'boundary':
      return boundaryOf(row);
    case 'journal':
      return { type: 'journal', agentId: textOf(row, 'agent_id'), reader: integerOf(row, 'reader') };
    default:
      return foreign(row);
  }
}

function messageOf(row: JsonObject, role: 'user' | 'assistant'): Message {
  // The rest keeps every unknown field as an own property, even a `__proto__` key.
  const { id, ts, seq, trace_type, source_event, input_id, tags, correlation_id, media, ...fields } = row;
  fields['role'] = role;
  if (media && typeof media === 'object' && !Array.isArray(media)) {
    for (const kind of ['image', 'audio', 'video']) {
      const urls = media[kind === 'image' ? 'images' : kind];
      if (Array.isArray(urls) && urls.length > 0) fields[`${kind}_urls`] = urls;
    }
  }
  if (fields['parts'] !== undefined && fields['content'] === '') delete fields['content'];
  return messageFromJson(fields);
}

function callOf(row: JsonObject): ReturnType<typeof callFromJson> {
  return callFromJson({
    id: row['tool_call_id'] ?? null,
    name: row['tool_name'] ?? null,
    arguments: row['tool_args'] ?? null,
    arguments_text: row['tool_args_text'] ?? null,
    ...(row['signature'] === undefined ? {} : { signature: row['signature'] }),
    ...((row['tool_extra'] as JsonObject | undefined) ?? {}),
  });
}

/** AutoByteus repeats the call's arguments in result rows. They belong to the call and are ignored here. */
function resultOf(row: JsonObject): ReturnType<typeof resultFromJson> {
  return resultFromJson({
    tool_call_id: row['tool_call_id'] ?? null,
    tool_name: row['tool_name'] ?? null,
    tool_result: row['tool_result'] ?? null,
    tool_error: row['tool_error'] ?? null,
    ...(isJsonObject(row['tool_extra']) ? row['tool_extra'] : {}),
  });
}

function boundaryOf(row: JsonObject): Body {
  const boundary = boundaryFromJson(row);
  return boundary ? { type: 'boundary', boundary } : foreign(row);
}

function boundaryFromJson(row: JsonObject): Boundary | null {
  switch (row['boundary']) {
    case 'system':
      return { kind: 'system', systemPrompt: optionalTextOf(row, 'system_prompt') };
    case 'base':
      return {
        kind: 'base',
        reason: optionalTextOf(row, 'reason'),
        epochId: integerOf(row, 'epoch_id'),
        lastCompactionTs: typeof row['last_compaction_ts'] === 'number' ? row['last_compaction_ts'] : null,
        lastTurn: integerOf(row, 'last_turn'),
        messages: listOf(row, 'messages').map(messageFromJson),
      };
    case 'repair':
      return {
        kind: 'repair',
        at: integerOf(row, 'at'),
        deleteCount: integerOf(row, 'delete_count'),
        insert: listOf(row, 'insert').map(messageFromJson),
        codes: listOf(row, 'codes').map(String),
      };
    case 'edit':
      return {
        kind: 'edit',
        rung: row['rung'] === 'clear' ? 'clear' : 'trim',
        edits: listOf(row, 'edits').map(editFromJson),
      };
    case 'compaction_failed':
      return { kind: 'compaction_failed', reason: optionalTextOf(row, 'reason') };
    default:
      return null;
  }
}

function editFromJson(edit: JsonValue): { at: number; message: Message } {
  if (!isJsonObject(edit)) throw invalid('edits', 'a list of objects');
  return { at: integerOf(edit, 'at'), message: messageFromJson(edit['message'] ?? null) };
}

function foreign(row: JsonObject): Body {
  return { type: 'foreign', traceType: row['trace_type'] as string, row };
}

function listOf(row: JsonObject, key: string): JsonArray {
  const list: JsonValue | undefined = row[key];
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw invalid(key, 'a list');
  return list;
}

function textOf(row: JsonObject, key: string): string {
  const value = row[key];
  if (typeof value !== 'string') throw invalid(key, 'a text');
  return value;
}

function optionalTextOf(row: JsonObject, key: string): string {
  return row[key] === undefined || row[key] === null ? '' : textOf(row, key);
}

function integerOf(row: JsonObject, key: string): number {
  const value = row[key];
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw invalid(key, 'an integer');
  return value;
}

function invalid(field: string, wanted: string): RekindleError {
  return new RekindleError('MESSAGE_INVALID', `The trace field \`${field}\` must be ${wanted}.`, {
    details: { field, wanted },
  });
}
