/** Rollouts of the Codex CLI: one record per line, in an envelope with its kind. Until autumn 2025 items had no envelope. */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { readJsonLines } from '../reading/json-lines.js';
import { timeOf } from '../reading/record-time.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { CodexSession } from './codex-session.js';

const ENVELOPES: ReadonlySet<JsonValue | undefined> = new Set([
  'session_meta',
  'response_item',
  'event_msg',
  'turn_context',
  'compacted',
  'world_state',
]);

export const codexImporter: TranscriptImporter = {
  format: 'codex',
  title: 'Codex rollout',
  lookedFor:
    'JSON lines {timestamp, type:"session_meta"|"response_item"|"event_msg"|..., payload}, or items with record_type lines',
  recognises,
  read,
};

function recognises(head: TranscriptHead): boolean {
  if (head.shape !== 'lines') return false;
  const lines = head.items.filter(isJsonObject);
  const first = lines[0];
  return lines.some(isEnvelope) || lines.some(isState) || (first !== undefined && isBareHeader(first));
}

function isEnvelope(line: JsonObject): boolean {
  return (
    ENVELOPES.has(line['type']) && isJsonObject(line['payload']) && typeof line['timestamp'] === 'string'
  );
}

function isState(line: JsonObject): boolean {
  return line['record_type'] === 'state';
}

function isBareHeader(line: JsonObject): boolean {
  const isNamed = typeof line['id'] === 'string' && typeof line['timestamp'] === 'string';
  return isNamed && !('type' in line) && !('role' in line) && 'instructions' in line;
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const session = new CodexSession(losses);
  let records = 0;
  for await (const { value, line } of readJsonLines(source.chunks(), losses)) {
    records += 1;
    readRecord(session, value, `line ${line}`, losses);
    yield* session.take();
  }
  if (records === 0) throw noRollout();
  session.end();
  yield* session.take();
}

function readRecord(session: CodexSession, record: JsonObject, place: string, losses: LossAccount): void {
  const { ts } = timeOf(record['timestamp'], record['created_at']);
  const { type, payload } = record;
  if (isState(record)) losses.drop('state of the tool', place);
  else if (isBareHeader(record)) session.header(record, place, ts);
  else if (!isJsonObject(payload)) session.item(record, place, ts);
  else if (type === 'session_meta') session.header(payload, place, ts);
  else if (type === 'turn_context') session.settings(payload, place);
  else if (type === 'response_item') session.item(payload, place, ts);
  else if (type === 'event_msg') session.event(payload, place, ts);
  else if (type === 'compacted') session.compaction(payload, place, ts);
  else losses.drop(type === 'world_state' ? 'state of the surroundings' : 'record of an unknown type', place);
}

function noRollout(): RekindleError {
  return new RekindleError('TRANSCRIPT_INVALID', 'The Codex rollout contains no records.', {
    details: { lookedFor: codexImporter.lookedFor },
  });
}
