/**
 * The snapshot as one JSON document: pure mapping, no I/O.
 *
 * {"schema_version":1,"agent_id":"a","epoch_id":1,"last_compaction_ts":null,"messages":[...]}
 *
 * Versions: 1 (the plain format, and ours, with more fields) and 3 (a later one of AutoByteus). 2 and everything above
 * 3 was written by newer software; other values are damage.
 */
import { RekindleError } from '../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.js';
import { toJsonValue } from '../core/to-json-value.js';
import { messageFromJson, messageToJson } from '../messages/message-serializer.js';
import { WorkingContextSnapshot } from './working-context-snapshot.js';

export const SNAPSHOT_SCHEMA_VERSION = 1;
const READABLE_VERSIONS = new Set([1, 3]);

export interface SnapshotMetadata {
  readonly schema_version?: number;
  readonly agent_id?: string;
  readonly epoch_id?: number;
  readonly last_compaction_ts?: number | null;
}

export type VersionVerdict = 'readable' | 'newer' | 'damaged';

export function verdictOnVersion(version: JsonValue | undefined): VersionVerdict {
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1) return 'damaged';
  return READABLE_VERSIONS.has(version) ? 'readable' : 'newer';
}

/** Changes without loss: values that JSON omits, and lone surrogates. */
const HARMLESS: ReadonlySet<string> = new Set(['undefined', 'surrogate']);

/** @throws MESSAGE_INVALID naming the first value that JSON cannot hold */
export function assertPlainJson(payload: unknown): void {
  const change = toJsonValue(payload).changes.find(({ kind }) => !HARMLESS.has(kind));
  if (!change) return;
  const text = `The snapshot contains a value that JSON cannot hold: ${change.kind} at ${change.path}.`;
  throw new RekindleError('MESSAGE_INVALID', text, { details: { field: change.path, kind: change.kind } });
}

/** Converts a snapshot to and from its JSON document. */
// A class of static functions only because users of AutoByteus import it by this name.
// biome-ignore lint/complexity/noStaticOnlyClass: see above
export class WorkingContextSnapshotSerializer {
  /** @throws MESSAGE_INVALID for a value that is not JSON: a BigInt, a cycle, a Map, a function */
  static serialize(snapshot: WorkingContextSnapshot, metadata: SnapshotMetadata): JsonObject {
    const payload = {
      schema_version: metadata.schema_version ?? SNAPSHOT_SCHEMA_VERSION,
      agent_id: metadata.agent_id ?? '',
      epoch_id: metadata.epoch_id ?? snapshot.epochId,
      last_compaction_ts: metadata.last_compaction_ts ?? snapshot.lastCompactionTs,
      messages: snapshot.messages.map(messageToJson),
    };
    assertPlainJson(payload);
    return payload;
  }

  /** @throws MESSAGE_INVALID; call `validate` first for a verdict without an exception. */
  static deserialize(payload: JsonObject): { snapshot: WorkingContextSnapshot; metadata: SnapshotMetadata } {
    const messages = Array.isArray(payload['messages']) ? payload['messages'] : [];
    const snapshot = new WorkingContextSnapshot(messages.map(messageFromJson));
    const { epoch_id: epochId, last_compaction_ts: ts, schema_version: version, agent_id: agentId } = payload;
    if (typeof epochId === 'number' && Number.isSafeInteger(epochId)) snapshot.epochId = epochId;
    if (typeof ts === 'number') snapshot.lastCompactionTs = ts;
    const metadata: SnapshotMetadata = {
      ...(typeof version === 'number' ? { schema_version: version } : {}),
      ...(typeof agentId === 'string' ? { agent_id: agentId } : {}),
      epoch_id: snapshot.epochId,
      last_compaction_ts: snapshot.lastCompactionTs,
    };
    return { snapshot, metadata };
  }

  /** True for a document that this release can read. */
  static validate(payload: unknown): boolean {
    if (!isJsonObject(payload) || verdictOnVersion(payload['schema_version']) !== 'readable') return false;
    if (typeof payload['agent_id'] !== 'string' || !Array.isArray(payload['messages'])) return false;
    try {
      for (const message of payload['messages']) messageFromJson(message);
      return true;
    } catch {
      return false;
    }
  }
}
