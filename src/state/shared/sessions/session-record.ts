/** A session in the tree, and one record of the journal `sessions.jsonl`. */
import type { JsonObject } from '../../../core/json.js';

/** Every status of a session in the tree. */
export const SESSION_STATUSES = [
  'pending',
  'running',
  'idle',
  'stopping',
  'finished',
  'stopped',
  'failed',
] as const;
/** Status of a session in the tree. */
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** A session in the tree: a root, or a session that was started below one. */
export interface TreeSession {
  readonly id: string;
  /** Null for a root. */
  readonly parent: string | null;
  /** For a root: its own id. */
  readonly root: string;
  /** The agent that works in it; null if unknown. */
  readonly agent: string | null;
  readonly status: SessionStatus;
  /** Reason of the last status change; null if none was given. */
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
  // An ended session is resumed by running it again.
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

/** The session after the change: a record is complete by itself. */
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

/** Null for a row of another shape. @param rootOf gives the root, which the row of an older session does not name */
export function decodeSession(row: JsonObject, rootOf: (id: string) => string): TreeSession | null {
  const { id, parent, agent, status, why, created_at: createdAt, updated_at: updatedAt } = row;
  if (typeof id !== 'string' || !isStatus(status)) return null;
  if (typeof createdAt !== 'string' || typeof updatedAt !== 'string') return null;
  return {
    id,
    parent: typeof parent === 'string' ? parent : null,
    root: rootOf(id),
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
