/**
 * The snapshot as one JSON document: pure mapping, no I/O.
 *
 * {"schema_version":1,"agent_id":"a","epoch_id":1,"last_compaction_ts":null,...,"messages":[...]}
 *
 * Other members of the metadata are kept as they are. The cache file (`snapshot-file.ts`) has none.
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

/** What a document says besides its messages: four known fields, and any other JSON value by name. */
export interface SnapshotMetadata {
  readonly schema_version?: number;
  readonly agent_id?: string;
  readonly epoch_id?: number;
  /** Seconds since 1970. */
  readonly last_compaction_ts?: number | null;
  readonly [name: string]: JsonValue;
}

/** Metadata as a host gives it: the same fields, with values that are checked. A member that is undefined is left out. */
export interface SnapshotMetadataInit {
  readonly schema_version?: number;
  readonly agent_id?: string;
  readonly epoch_id?: number;
  readonly last_compaction_ts?: number | null;
  readonly [name: string]: unknown;
}

const KNOWN_FIELDS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['schema_version', (value: unknown) => typeof value === 'number'],
  ['agent_id', (value: unknown) => typeof value === 'string'],
  ['epoch_id', Number.isSafeInteger],
  ['last_compaction_ts', (value: unknown) => value === null || typeof value === 'number'],
]);

/** The list, and the footer of a cache (`snapshot-file.ts`). A restore takes a document with `covers_seq` for a damaged cache. */
const OWN_NAMES: ReadonlySet<string> = new Set([
  'messages',
  'covers_seq',
  'covers_crc',
  'cursor',
  'last_turn',
  'turn_id',
  'turn_seq',
  'compaction_failures',
  'reader',
  'unknown',
  'crc',
]);

export type VersionVerdict = 'readable' | 'newer' | 'damaged';

export function verdictOnVersion(version: JsonValue | undefined): VersionVerdict {
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1) return 'damaged';
  return READABLE_VERSIONS.has(version) ? 'readable' : 'newer';
}

/** Changes without loss: values that JSON omits, and lone surrogates. */
const HARMLESS: ReadonlySet<string> = new Set(['undefined', 'surrogate']);

/** @throws MESSAGE_INVALID naming the first value that JSON cannot hold */
export function assertPlainJson(value: unknown): asserts value is JsonValue {
  const odd = toJsonValue(value).changes.find(({ kind }) => !HARMLESS.has(kind));
  const path = odd ? null : pathOfToJson(value);
  const change = path === null ? odd : { kind: 'function-or-symbol', path };
  if (!change) return;
  const what = `a value that JSON cannot hold: ${change.kind} at ${change.path}`;
  throw invalid(what, { field: change.path, kind: change.kind });
}

/**
 * The path of the first function `toJSON`; null without one. The conversion follows it, and so does `JSON.stringify`, so that it would put
 * another value in the place of the given one.
 */
function pathOfToJson(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return '/toJSON';
  for (const [key, member] of Object.entries(value)) {
    const below = pathOfToJson(member);
    if (below !== null) return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}${below}`;
  }
  return null;
}

function invalid(what: string, details: JsonObject): RekindleError {
  return new RekindleError('MESSAGE_INVALID', `The snapshot contains ${what}.`, { details });
}

/** The members that are neither known fields nor names of the file. @throws MESSAGE_INVALID */
function othersIn(members: Readonly<Record<string, unknown>>): JsonObject {
  const others = Object.fromEntries(
    Object.entries(members).filter(
      ([name, value]) => value !== undefined && !KNOWN_FIELDS.has(name) && !OWN_NAMES.has(name),
    ),
  );
  assertPlainJson(others);
  return others;
}

/** Converts a snapshot to and from its JSON document. */
// A class of static functions only because users of AutoByteus import it by this name.
// biome-ignore lint/complexity/noStaticOnlyClass: see above
export class WorkingContextSnapshotSerializer {
  /**
   * The document of a snapshot. Known fields that the metadata lacks come from the snapshot; other members are kept as they are. No value is
   * converted: `MemoryManager` has done that with tool payloads when it recorded them.
   * @throws MESSAGE_INVALID for a value that is not JSON (a BigInt, a cycle, a Map, a function), for a known field of another type, and for
   * metadata under a name that the file uses: `messages`, or a field of the footer
   */
  static serialize(snapshot: WorkingContextSnapshot, metadata: SnapshotMetadataInit): JsonObject {
    const taken = Object.keys(metadata).find((name) => OWN_NAMES.has(name) && metadata[name] !== undefined);
    if (taken) throw invalid(`metadata under a name of the file itself: ${taken}`, { field: `/${taken}` });
    const payload: JsonObject = {
      schema_version: metadata.schema_version ?? SNAPSHOT_SCHEMA_VERSION,
      agent_id: metadata.agent_id ?? '',
      epoch_id: metadata.epoch_id ?? snapshot.epochId,
      last_compaction_ts: metadata.last_compaction_ts ?? snapshot.lastCompactionTs,
      ...othersIn(metadata),
      messages: snapshot.messages.map(messageToJson),
    };
    for (const [name, hasType] of KNOWN_FIELDS) {
      if (hasType(payload[name])) continue;
      throw invalid(`metadata of another type: ${name}`, { field: `/${name}` });
    }
    assertPlainJson(payload);
    return payload;
  }

  /**
   * The snapshot and the metadata of a document, with all its other members. The footer of a cache is not metadata: it describes the file.
   * @throws MESSAGE_INVALID for a message of another form, or a member that is not JSON; call `validate` first for a verdict without an exception
   */
  static deserialize(payload: Readonly<Record<string, unknown>>): {
    snapshot: WorkingContextSnapshot;
    metadata: SnapshotMetadata;
  } {
    const messages: unknown[] = Array.isArray(payload['messages']) ? payload['messages'] : [];
    const snapshot = new WorkingContextSnapshot(
      messages.map((message) => messageFromJson(message as JsonValue)),
    );
    const { epoch_id: epochId, last_compaction_ts: ts, schema_version: version, agent_id: agentId } = payload;
    if (typeof epochId === 'number' && Number.isSafeInteger(epochId)) snapshot.epochId = epochId;
    if (typeof ts === 'number') snapshot.lastCompactionTs = ts;
    const metadata: SnapshotMetadata = {
      ...othersIn(payload),
      ...(typeof version === 'number' ? { schema_version: version } : {}),
      ...(typeof agentId === 'string' ? { agent_id: agentId } : {}),
      epoch_id: snapshot.epochId,
      last_compaction_ts: snapshot.lastCompactionTs,
    };
    return { snapshot, metadata };
  }

  /** True for a document that this release can read: its metadata is JSON, and each message has the form of one. */
  static validate(payload: unknown): boolean {
    if (!isJsonObject(payload) || verdictOnVersion(payload['schema_version']) !== 'readable') return false;
    if (typeof payload['agent_id'] !== 'string' || !Array.isArray(payload['messages'])) return false;
    try {
      for (const message of payload['messages']) messageFromJson(message);
      othersIn(payload);
      return true;
    } catch {
      return false;
    }
  }
}
