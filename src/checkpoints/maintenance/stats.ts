import type { SessionInfo } from '../checkpoint-metadata.js';
import type { CheckpointConfig } from '../config/checkpoint-config.js';
import type { SessionProblem } from '../session/session-pool.js';

/** Sizes, counts and limits of the checkpoints in a store. Sizes are in bytes. */
export interface CheckpointStats {
  readonly sessions: number;
  readonly checkpoints: number;
  /** Bytes of live checkpoints. */
  readonly totalSizeBytes: number;
  /** Bytes of the JSON texts of their contexts. */
  readonly contextSizeBytes: number;
  /** `contextSizeBytes` divided by `totalSizeBytes`: compression and shared parts. 1 without checkpoints. */
  readonly compressionRatio: number;
  readonly maxTotalSize: number;
  readonly maxSessionSize: number;
  readonly maxCheckpoints: number;
  /** Unreadable sessions, which are not counted. */
  readonly problems: readonly SessionProblem[];
  /** Largest sessions first. */
  readonly largest: readonly Pick<SessionInfo, 'id' | 'totalSizeBytes' | 'checkpoints'>[];
}

const LARGEST = 10;

export function statsOf(
  infos: readonly SessionInfo[],
  problems: readonly SessionProblem[],
  limits: CheckpointConfig['storage'],
): CheckpointStats {
  const { maxTotalSize, maxSessionSize, maxCheckpoints } = limits;
  const sum = (of: (info: SessionInfo) => number) => infos.reduce((total, info) => total + of(info), 0);
  const totalSizeBytes = sum((info) => info.totalSizeBytes);
  const contextSizeBytes = sum((info) => info.contextSizeBytes);
  const largest = infos.toSorted((a, b) => b.totalSizeBytes - a.totalSizeBytes).slice(0, LARGEST);
  return {
    sessions: infos.length,
    checkpoints: sum(({ checkpoints }) => checkpoints),
    totalSizeBytes,
    contextSizeBytes,
    compressionRatio: totalSizeBytes === 0 ? 1 : contextSizeBytes / totalSizeBytes,
    maxTotalSize,
    maxSessionSize,
    maxCheckpoints,
    problems,
    largest: largest.map(({ id, totalSizeBytes, checkpoints }) => ({ id, totalSizeBytes, checkpoints })),
  };
}
