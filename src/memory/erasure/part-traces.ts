/**
 * Finds the traces of a part of an agent. What belongs together goes together: an answer with its calls, a call with
 * its results, and records of the tools that look back with what they quote.
 */
import { RekindleError } from '../../core/errors.js';
import { formatTurnId } from '../../core/ids.js';
import { isJsonObject, type JsonObject, textOr } from '../../core/json.js';
import type { PartTarget } from '../../storage/erasure/erasure-marker.js';
import { storedRecords } from '../../storage/erasure/journal-rows.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { comesFrom, toolOrigin } from '../facts/fact-source.js';
import { quotedBy, recordsIn } from './look-back.js';

/** Rows by their number in the journal. */
export type Rows = Map<number, JsonObject>;

const SAID = new Set(['user', 'assistant', 'tool_call', 'tool_result']);
const IMPORTED = new Set(['Import', 'SystemNote']);
const STORED = /^sha256:([0-9a-f]{64})$/;

export function tracesName(agent: string): Name {
  return ['agents', agent, 'raw_traces'];
}

/** The id of the turn; null if the target is not a turn. */
export function turnOf(target: PartTarget): string | null {
  if (!('turn' in target)) return null;
  return typeof target.turn === 'number' ? formatTurnId(target.turn) : target.turn;
}

/** @throws INVALID_ARGUMENT for a record that is not a message, a call or a result */
export async function tracesOfPart(backend: StorageBackend, target: PartTarget): Promise<Rows> {
  const rows: Rows = new Map();
  const picks = pickerOf(target);
  for await (const { seq, record } of storedRecords(backend, tracesName(target.agent)))
    if (picks(record, seq)) rows.set(seq, record);
  for (let size = -1; rows.size > 0 && size !== rows.size; ) {
    size = rows.size;
    await addWhatBelongs(backend, target.agent, rows);
  }
  return rows;
}

type Picker = (row: JsonObject, seq: number) => boolean;

function pickerOf(target: PartTarget): Picker {
  const turn = turnOf(target);
  if (turn !== null) return (row) => row['turn_id'] === turn;
  if ('message' in target) return (row, seq) => seq === target.message && assertSaid(row, seq);
  const { source } = target as { readonly source: string };
  return source === 'import' ? isImported : fromTools(source);
}

function isImported(row: JsonObject): boolean {
  return row['imported'] === true || IMPORTED.has(textOr(row['source_event']));
}

/** Results of the tool, and what the model wrote after them in the same turn: it may repeat them. */
function fromTools(source: string): Picker {
  const read = new Set<string>();
  return (row) => {
    const turn = textOr(row['turn_id']);
    const type = row['trace_type'];
    const isResult = type === 'tool_result' && comesFrom([toolOrigin(textOr(row['tool_name']))], source);
    if (isResult && turn !== '') read.add(turn);
    return isResult || (read.has(turn) && type !== 'user' && SAID.has(textOr(type)));
  };
}

function assertSaid(row: JsonObject, seq: number): boolean {
  if (SAID.has(textOr(row['trace_type']))) return true;
  const text = `Record ${seq} is not a message, a call or a result.`;
  throw new RekindleError('INVALID_ARGUMENT', text, { details: { argument: 'message', record: seq } });
}

async function addWhatBelongs(backend: StorageBackend, agent: string, rows: Rows): Promise<void> {
  const answers = new Set<string>();
  const calls = new Set<string>();
  const ids = new Set<string>();
  for (const row of rows.values()) {
    if (row['trace_type'] === 'assistant' && typeof row['message_id'] === 'string')
      answers.add(keyOf(row, 'message_id'));
    if (typeof row['tool_call_id'] === 'string') {
      calls.add(keyOf(row, 'tool_call_id'));
      ids.add(row['tool_call_id']);
    }
  }
  const known = new Set<string>();
  for await (const { seq, record } of storedRecords(backend, tracesName(agent))) {
    const call = keyOf(record, 'tool_call_id');
    const isCall = record['trace_type'] === 'tool_call';
    if (isCall && ids.has(textOr(record['tool_call_id']))) known.add(call);
    if (rows.has(seq)) continue;
    const isResult = record['trace_type'] === 'tool_result';
    // A result that came in a later turn belongs to the only call with its id.
    const isLate = isResult && !known.has(call) && ids.has(textOr(record['tool_call_id']));
    const belongs =
      (isCall && answers.has(keyOf(record, 'message_id'))) ||
      ((isCall || isResult) && calls.has(call)) ||
      isLate ||
      (await quoted(backend, agent, record)).some((number) => rows.has(number));
    if (belongs) rows.set(seq, record);
  }
}

/** Also of a result that was stored apart. */
async function quoted(backend: StorageBackend, agent: string, row: JsonObject): Promise<readonly number[]> {
  const shown = quotedBy(row);
  const stored = isJsonObject(row['tool_extra']) ? row['tool_extra']['stored'] : undefined;
  const digest = isJsonObject(stored) ? STORED.exec(textOr(stored['ref']))?.[1] : undefined;
  if (shown.length === 0 || digest === undefined) return shown;
  const whole = await backend.blobs(['agents', agent, 'artifacts']).get(digest);
  return whole ? [...shown, ...recordsIn(new TextDecoder().decode(whole))] : shown;
}

/** Ids are unique within a turn. */
export function keyOf(row: JsonObject, field: 'message_id' | 'tool_call_id'): string {
  return `${textOr(row['turn_id'])}\u0000${textOr(row[field])}`;
}
