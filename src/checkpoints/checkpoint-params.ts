/** What the calls of `CheckpointService` take and give. */
import type { Clock } from '../core/clock.js';
import type { JsonObject } from '../core/json.js';
import type { Name, StorageBackend } from '../storage/ports.js';
import type { CheckpointMetadata } from './checkpoint-metadata.js';
import type { CheckpointConfigInit } from './config/checkpoint-config.js';
import type { KeyOptions } from './encryption/keys-for.js';
import type { CheckpointOperation } from './operation-times.js';

/** Options of `CheckpointService`. */
export interface CheckpointServiceOptions extends KeyOptions {
  /** Default: the storage of the agents: `REKINDLE_MEMORY_DIR`, else `memory` below the current folder. */
  readonly backend?: StorageBackend;
  /** Default `['checkpoints']`. */
  readonly folder?: Name;
  /** Takes precedence over `config/checkpoints.json` next to the checkpoints. */
  readonly config?: CheckpointConfigInit;
  readonly clock?: Clock;
  /** A data key is replaced after this many records. Default 2^30. */
  readonly messagesPerKey?: number;
  /**
   * Whether a key at the top of a context is of the running program only, such as a socket. `save` leaves it out, whatever its value,
   * and the metadata name it. Default: no key.
   */
  readonly isRuntimeKey?: (key: string, value: unknown) => boolean;
  /**
   * Gets each save, load, list and look-up when it has ended; `checkpointMetrics` makes OpenTelemetry metrics of them. Default:
   * slow ones are process warnings (`REKINDLE_SLOW`).
   */
  readonly onOperation?: (operation: CheckpointOperation) => void;
}

/** The outcome of a save. */
export interface SaveResult {
  readonly status: 'SAVED' | 'SKIPPED_UNCHANGED';
  readonly checkpointId: string;
  readonly sessionId: string;
  readonly metadata: CheckpointMetadata;
  /** Checkpoints that were deleted to make room, oldest first. */
  readonly removed: readonly CheckpointMetadata[];
  /** Non-fatal problems. */
  readonly warnings: readonly string[];
}

/** One checkpoint by its id, or the newest one of a session. */
export type LoadParams =
  | { readonly checkpointId: string; readonly sessionId?: undefined }
  | { readonly sessionId: string; readonly checkpointId?: undefined };

/** A context with its metadata. */
export interface LoadedCheckpoint {
  readonly context: JsonObject;
  readonly metadata: CheckpointMetadata;
}

/** A context key that no view may drop, or a checkpoint that retention must keep. */
export type MarkParams =
  | { readonly sessionId: string; readonly contextKey: string }
  | { readonly checkpointId: string };
