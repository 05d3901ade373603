/** Metadata of checkpoints and sessions, available without reading their data. */
import { checkpointId } from './checkpoint-id.js';
import type { CheckpointStatus, LayerSummary, SaveRecord } from './session/checkpoint-record.js';
import type { SessionState } from './session/session-state.js';

/** Everything about a checkpoint except its context. */
export interface CheckpointMetadata {
  /** `<session>@<number>`. */
  readonly id: string;
  readonly sessionId: string;
  readonly number: number;
  readonly name: string | null;
  readonly agentId: string | null;
  readonly workflowId: string | null;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly tags: readonly string[];
  /** Bytes of the context as JSON text. */
  readonly contextSizeBytes: number;
  /**
   * SHA-256 of the context's canonical JSON. In an encrypted session a keyed digest, which shows only whether
   * two contexts are equal.
   */
  readonly contextHash: string;
  /** Bytes that it added to the store. */
  readonly storedBytes: number;
  /** SHA-256 of the bytes that it added. */
  readonly blobDigest: string;
  readonly compression: SaveRecord['pack']['compression'];
  readonly encrypted: boolean;
  readonly status: CheckpointStatus;
  /** Retention never removes it. */
  readonly critical: boolean;
  /** `agent` for a whole agent; null for a plain context. */
  readonly kind: string | null;
  /** Keys of the given context that `isRuntimeKey` left out. */
  readonly leftOutKeys: readonly string[];
  /** Number of keys and bytes in each layer. Null if it was not classified. */
  readonly classificationSummary: LayerSummary | null;
}

/** Everything about a session except its checkpoints. */
export interface SessionInfo {
  readonly id: string;
  /** Time of its first checkpoint. */
  readonly createdAt: string;
  /** Last known save or load. */
  readonly lastAccessedAt: string;
  readonly workflowId: string | null;
  /** Of all its checkpoints, sorted. */
  readonly tags: readonly string[];
  /** Stored bytes of its checkpoints. */
  readonly totalSizeBytes: number;
  /** Bytes of the JSON texts of their contexts. */
  readonly contextSizeBytes: number;
  readonly checkpoints: number;
  readonly encrypted: boolean;
  /** Keys of the context that no view drops. */
  readonly criticalKeys: readonly string[];
}

/** @param state that of its session, which forgets what is said of a removed checkpoint */
export function toMetadata(sessionId: string, record: SaveRecord, state: SessionState): CheckpointMetadata {
  const { number, pack, context } = record;
  return {
    id: checkpointId({ sessionId, number }),
    sessionId,
    number,
    name: record.name ?? null,
    agentId: record.agent ?? null,
    workflowId: record.workflow ?? null,
    createdAt: record.at,
    tags: record.tags ?? [],
    contextSizeBytes: context.bytes,
    contextHash: context.hash,
    storedBytes: pack.bytes,
    blobDigest: pack.digest,
    compression: pack.compression,
    encrypted: pack.key !== undefined,
    status: state.statusOf(number),
    critical: state.isCritical(number),
    leftOutKeys: record.leftOut ?? [],
    kind: record.kind ?? null,
    classificationSummary: record.layers ?? null,
  };
}

/** Null for a session without records. @param accessedAt when it was last loaded from */
export function toSessionInfo(
  id: string,
  state: SessionState,
  { isEncrypted, accessedAt }: { readonly isEncrypted: boolean; readonly accessedAt: string | null },
): SessionInfo | null {
  const { since, checkpoints, marks } = state;
  if (since === null) return null;
  const times = [
    since,
    ...checkpoints.map(({ at }) => at),
    ...(accessedAt === null ? [] : [accessedAt]),
  ].sort();
  return {
    id,
    createdAt: since,
    lastAccessedAt: times.at(-1)!,
    workflowId: checkpoints.find(({ workflow }) => workflow !== undefined)?.workflow ?? null,
    tags: [...new Set(checkpoints.flatMap(({ tags }) => tags ?? []))].sort(),
    totalSizeBytes: state.storedBytes(),
    contextSizeBytes: checkpoints.reduce((sum, { context }) => sum + context.bytes, 0),
    checkpoints: checkpoints.length,
    encrypted: isEncrypted,
    criticalKeys: [...marks].sort(),
  };
}
