/** A session in the tree, and one record of the journal `sessions.jsonl`. */
import type { JsonObject } from '../../../core/json.js';

export const SESSION_STATUSES = [
  'pending',
  'running',
  'idle',
  'stopping',
  'finished',
  'stopped',
  'failed',
] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** A session of a root: the root itself, or one that was started below it. */
export interface TreeSession {
  readonly id: string;
  /** Null for a root. */
  readonly parent: string | null;
  /** Its own id for a root. */
  readonly root: string;
  /** The agent that works in it; null when that was not said. */
  readonly agent: string | null;
  readonly status: SessionStatus;
  /** Of the last change of status; null when none was given. */
  readonly why: string | null;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

const NEXT: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  pending: ['running', 'stopping', 'stopped', 'failed'],
  running: ['idle', 'stopping', 'finished', 'stopped', 'failed'],
  idle: ['running', 'stopping', 'finished', 'stopped', 'failed'],
  stopping: ['finished', 'stopped', 'failed'],
  // A session that ended is resumed by running it again.
  finished: ['running'],
  stopped: ['running'],
  failed: ['running'],
};

export function nextStatuses(status: SessionStatus): readonly SessionStatus[] {
  return NEXT[status];
}

export function hasEnded(status: SessionStatus): boolean {
  return status === 'finished' || status === 'stopped' || status === 'failed';
}

/** The session as it is after the change: a record is complete by itself. */
export function encodeSession(session: TreeSession): JsonObject {
  const { id, parent, root, agent, status, why, createdAt, updatedAt } = session;
  return {
    id,
    parent,
    root,
    agent,
    status,
    ...(why === null ? {} : { why }),
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

/** Null for a row of another shape. */
export function decodeSession(row: JsonObject): TreeSession | null {
  const { id, parent, root, agent, status, why, created_at: createdAt, updated_at: updatedAt } = row;
  if (typeof id !== 'string' || typeof root !== 'string' || !isStatus(status)) return null;
  if (typeof createdAt !== 'string' || typeof updatedAt !== 'string') return null;
  return {
    id,
    parent: typeof parent === 'string' ? parent : null,
    root,
    agent: typeof agent === 'string' ? agent : null,
    status,
    why: typeof why === 'string' ? why : null,
    createdAt,
    updatedAt,
  };
}

export function isStatus(value: unknown): value is SessionStatus {
  return (SESSION_STATUSES as readonly unknown[]).includes(value);
}
