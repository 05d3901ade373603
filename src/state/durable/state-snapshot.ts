import type { RefusedEdit, StateTask } from './state-document.js';
import type { StateAt, StateEventKind } from './state-event.js';

/** A document at one of its versions. The value is the caller's own copy. */
export interface StateSnapshot<T> {
  readonly version: number;
  readonly value: T;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly by: string;
  readonly why: string | null;
  readonly event: StateEventKind;
}

/** What `StateManager.inspect` found. */
export interface StateInspection<T> {
  /** The newest version in the journal; null if there is none. */
  readonly current: StateSnapshot<T> | null;
  /** What the next `load` does first; null if journal and file agree. */
  readonly pending: StateTask | null;
  readonly refused: RefusedEdit | null;
}

/** The caller's own copy of a version. */
export function snapshotOf<T>({ version, value, at, by, why, event }: StateAt): StateSnapshot<T> {
  return { version, value: structuredClone(value) as T, at, by, why, event };
}
