/**
 * The editor's log of a chat: the first line holds the state, each later line a change of it. A change names its place
 * by keys and indexes: 1 sets a value, 2 replaces the end of a list from index `i` (or appends), 3 deletes a value.
 */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { readJsonLines } from '../reading/json-lines.js';
import type { TranscriptSource } from '../transcript.js';

const INITIAL = 0;
const SET = 1;
const PUSH = 2;
const DELETE = 3;
/** The state is held in memory, because any line may change any part of it. In bytes of the log. */
const LOG_BYTES_MAX = 64 * 1024 * 1024;

/** The state after the last change. @throws TRANSCRIPT_INVALID if the log is too large, or has no state */
export async function stateOfLog(source: TranscriptSource, losses: LossAccount): Promise<JsonObject> {
  if (source.size > LOG_BYTES_MAX) throw tooLarge(source.size);
  let state: JsonObject | undefined;
  for await (const { value, line } of readJsonLines(source.chunks(), losses)) {
    const initial = value['v'];
    if (value['kind'] === INITIAL && isJsonObject(initial)) state = initial;
    else if (!state || !applied(state, value)) losses.drop('change whose place is missing', `line ${line}`);
  }
  if (!state) throw noState();
  return state;
}

/** False if the place does not exist, or the change is of an unknown kind. */
function applied(state: JsonObject, change: JsonObject): boolean {
  const path = change['k'];
  if (!Array.isArray(path) || path.length === 0) return false;
  const holder = path.slice(0, -1).reduce<JsonValue | undefined>(memberOf, state);
  const last = path[path.length - 1]!;
  switch (change['kind']) {
    case SET:
      return set(holder, last, change['v'] ?? null);
    case PUSH:
      return push(holder, last, change);
    case DELETE:
      return remove(holder, last);
    default:
      return false;
  }
}

function memberOf(holder: JsonValue | undefined, key: JsonValue): JsonValue | undefined {
  if (Array.isArray(holder)) return typeof key === 'number' ? holder[key] : undefined;
  return isJsonObject(holder) && typeof key === 'string' && Object.hasOwn(holder, key)
    ? holder[key]
    : undefined;
}

/** An index beyond the end of a list would leave a gap. */
function set(holder: JsonValue | undefined, key: JsonValue, value: JsonValue): boolean {
  if (Array.isArray(holder)) {
    if (!isIndex(key, holder.length)) return false;
    holder[key] = value;
    return true;
  }
  if (!isJsonObject(holder) || typeof key !== 'string') return false;
  setOwn(holder, key, value);
  return true;
}

function push(holder: JsonValue | undefined, key: JsonValue, change: JsonObject): boolean {
  const values = change['v'] ?? [];
  const list = memberOf(holder, key);
  if (!Array.isArray(values)) return false;
  if (list === undefined) return set(holder, key, values);
  if (!Array.isArray(list)) return false;
  const from = change['i'];
  if (isIndex(from, list.length)) list.length = from;
  for (const value of values) list.push(value);
  return true;
}

function remove(holder: JsonValue | undefined, key: JsonValue): boolean {
  if (!isJsonObject(holder) || typeof key !== 'string') return false;
  delete holder[key];
  return true;
}

function isIndex(value: JsonValue | undefined, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;
}

function tooLarge(bytes: number): RekindleError {
  return new RekindleError(
    'TRANSCRIPT_INVALID',
    `The log of the chat is larger than ${LOG_BYTES_MAX} bytes.`,
    {
      details: { problem: 'too large', bytes, bytesMax: LOG_BYTES_MAX },
    },
  );
}

function noState(): RekindleError {
  return new RekindleError('TRANSCRIPT_INVALID', 'The log of the chat has no first state.', {
    details: { lookedFor: 'a line {kind: 0, v: {...}}' },
  });
}
