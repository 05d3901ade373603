/**
 * Our own transcripts: a saved snapshot of a working context, and lists of messages in our stored form or in the flat
 * neutral form, as a document with `messages`, a bare list, or one message per line.
 */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonValue } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { readJsonLines } from '../reading/json-lines.js';
import { type JsonPath, type SliceChoice, sliceJson } from '../reading/json-slices.js';
import { keepMessage } from '../reading/keep-message.js';
import { hasRecordPerLine } from '../reading/source-shape.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { withoutMarks } from './marks.js';
import { hasOddId, isNeutralMessage, neutralMessageFrom } from './neutral-message.js';

export { neutralMessageFrom } from './neutral-message.js';

/** Snapshot versions. 1 and 3 exist, 2 was never written, and a higher one comes from newer software. */
const READABLE_VERSIONS: ReadonlySet<JsonValue | undefined> = new Set([undefined, 1, 3]);

export const rekindleImporter: TranscriptImporter = {
  format: 'rekindle',
  entries: 'rekindle',
  title: 'Rekindle snapshot or neutral messages',
  lookedFor:
    '`messages` beside `schema_version` and `agent_id`, or messages with `tool_payload`, or with `tool_call_id` and `tool_result`',
  recognises,
  read,
};

function recognises(head: TranscriptHead): boolean {
  if (head.shape === 'array' || head.shape === 'lines')
    return head.items.every(hasRole) && head.items.some(isNeutralMessage);
  if (head.shape !== 'object' || !head.keys.has('messages')) return false;
  const isSnapshot = head.keys.has('schema_version') && head.keys.has('agent_id');
  const isCase = head.keys.has('slug') && head.keys.has('expected');
  const { messages } = head.fields;
  return isSnapshot || isCase || (Array.isArray(messages) && messages.some(isNeutralMessage));
}

function hasRole(item: JsonValue): boolean {
  return isJsonObject(item) && typeof item['role'] === 'string' && !('type' in item);
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const isLines = await hasRecordPerLine(source);
  const isOurs = !isLines && isOwnDocument(await topKeysOf(source));
  const members = isLines ? fromLines(source, losses) : fromDocument(source, losses);
  for await (const { json, place } of members) {
    if (!isJsonObject(json)) {
      losses.unreadable('a member that is not a message', place);
      continue;
    }
    if (hasOddId(json)) losses.approximate('an id that is not text', place);
    const read = neutralMessageFrom(json);
    const message = isOurs ? read : withoutMarks(read, place, losses);
    if (message.extra && 'unread' in message.extra) losses.approximate('fields of another type', place);
    keepMessage(message, losses);
    yield { kind: 'message', message };
  }
}

interface Member {
  readonly json: JsonValue;
  readonly place: string;
}

async function* fromLines(source: TranscriptSource, losses: LossAccount): AsyncGenerator<Member> {
  for await (const { value, line } of readJsonLines(source.chunks(), losses))
    yield { json: value, place: `line ${line}` };
}

async function* fromDocument(source: TranscriptSource, losses: LossAccount): AsyncGenerator<Member> {
  for await (const { path, value } of sliceJson(source.chunks(), memberChoice)) {
    const index = path[path.length - 1];
    if (typeof index !== 'number') throw invalid('`messages` is not a list');
    losses.record();
    yield { json: value, place: `messages/${index}` };
  }
}

/** Enters the list, which is the document or its `messages`. */
function memberChoice(path: JsonPath): SliceChoice {
  const [first, second] = path;
  if (first === undefined) return 'enter';
  if (typeof first === 'number') return 'take';
  if (first !== 'messages') return 'skip';
  return second === undefined ? 'enter' : 'take';
}

/** A snapshot, an export, or a test case: its marks on messages are trusted. */
function isOwnDocument(keys: ReadonlySet<unknown>): boolean {
  return (keys.has('schema_version') && keys.has('agent_id')) || (keys.has('slug') && keys.has('expected'));
}

/** @throws UNSUPPORTED_VERSION, TRANSCRIPT_INVALID, before any message is read */
async function topKeysOf(source: TranscriptSource): Promise<ReadonlySet<unknown>> {
  const keys = new Set<unknown>();
  const slices = sliceJson(source.chunks(), ([first]) => {
    if (first === undefined) return 'enter';
    if (typeof first === 'string') keys.add(first);
    return first === 'schema_version' ? 'take' : 'skip';
  });
  for await (const { path, value } of slices) {
    if (path[0] !== 'schema_version' || READABLE_VERSIONS.has(value)) continue;
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1)
      throw invalid('`schema_version` is not a version number');
    throw new RekindleError('UNSUPPORTED_VERSION', `The snapshot has version ${value}.`, {
      details: { version: value, readable: [1, 3] },
    });
  }
  return keys;
}

function invalid(problem: string): RekindleError {
  return new RekindleError('TRANSCRIPT_INVALID', `The messages cannot be read: ${problem}.`, {
    details: { problem, lookedFor: 'a list of messages' },
  });
}
