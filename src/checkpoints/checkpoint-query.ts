/** Filters and pages for lists of checkpoints. */
import type { CheckpointMetadata } from './checkpoint-metadata.js';
import { refusedParam } from './save-params.js';
import { CHECKPOINT_STATUSES, type CheckpointStatus } from './session/checkpoint-record.js';
import type { SessionProblem } from './session/session-pool.js';

/** Filter of `CheckpointService.list`; all given fields must match. */
export interface ListQuery {
  /** Default: all sessions. */
  readonly sessionId?: string;
  readonly tag?: string;
  readonly agentId?: string;
  /** Saved by one of these agents. */
  readonly agentIds?: readonly string[];
  /** Null: only plain contexts. */
  readonly kind?: string | null;
  /** Default: all except archived ones. */
  readonly status?: CheckpointStatus | 'all';
  /** Saved at this time or later: ISO 8601. */
  readonly after?: string;
  /** Saved before this time. */
  readonly before?: string;
  /** 1 to 1,000. Default 20. */
  readonly limit?: number;
  /** Skip this many. Default 0. */
  readonly offset?: number;
}

/** One page of a list. */
export interface Page<T> {
  readonly checkpoints: readonly T[];
  /** Number of matches on all pages. */
  readonly total: number;
  /** Unreadable sessions, if the query names no session. */
  readonly problems: readonly SessionProblem[];
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;
const LIMIT = 20;
const LIMIT_MAX = 1_000;

export function matches(checkpoint: CheckpointMetadata, query: ListQuery): boolean {
  const { tag, agentId, agentIds, kind, status } = query;
  const at = Date.parse(checkpoint.createdAt);
  return (
    (tag === undefined || checkpoint.tags.includes(tag)) &&
    (agentId === undefined || checkpoint.agentId === agentId) &&
    (agentIds === undefined || agentIds.some((id) => checkpoint.agentId === id)) &&
    (kind === undefined || checkpoint.kind === kind) &&
    isOfStatus(checkpoint.status, status) &&
    at >= timeOf('after', query.after, Number.NEGATIVE_INFINITY) &&
    at < timeOf('before', query.before, Number.POSITIVE_INFINITY)
  );
}

function isOfStatus(own: CheckpointStatus, wanted: ListQuery['status']): boolean {
  if (wanted === undefined) return own !== 'archived';
  return wanted === 'all' || own === wanted;
}

/** @throws INVALID_ARGUMENT */
export function assertQuery(query: ListQuery): void {
  timeOf('after', query.after, 0);
  timeOf('before', query.before, 0);
  pageOf([], query);
  const { status = 'all' } = query;
  if (status !== 'all' && !CHECKPOINT_STATUSES.includes(status))
    throw refusedParam('status', `it is one of ${[...CHECKPOINT_STATUSES, 'all'].join(', ')}`);
}

/** Of one session in the order of saving. */
export function newestFirst(a: CheckpointMetadata, b: CheckpointMetadata): number {
  if (a.sessionId === b.sessionId) return b.number - a.number;
  return b.createdAt.localeCompare(a.createdAt) || a.sessionId.localeCompare(b.sessionId);
}

/** @throws INVALID_ARGUMENT */
export function pageOf<T>(found: readonly T[], query: ListQuery): Omit<Page<T>, 'problems'> {
  const limit = wholeNumber('limit', query.limit ?? LIMIT, 1, LIMIT_MAX);
  const offset = wholeNumber('offset', query.offset ?? 0, 0, Number.MAX_SAFE_INTEGER);
  return { checkpoints: found.slice(offset, offset + limit), total: found.length };
}

function timeOf(field: string, given: string | undefined, otherwise: number): number {
  if (given === undefined) return otherwise;
  const time = ISO_TIME.test(given) ? Date.parse(given) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw refusedParam(field, 'it is a time as ISO 8601 has it, such as 2026-01-31T12:00:00Z');
}

function wholeNumber(field: string, value: number, min: number, max: number): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  throw refusedParam(field, `it is a whole number from ${min} to ${max}`);
}
