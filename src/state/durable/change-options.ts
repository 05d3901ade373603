/** Author and reason of a change. */
export interface ChangeOptions {
  /** The author. Default `agent`. `human` marks a person, whose changes are never delayed. */
  readonly by?: string;
  /** The reason, for the history. */
  readonly why?: string;
}

/** Options of `StateManager.commit`. */
export interface CommitOptions extends ChangeOptions {
  /** Only if this is still the newest version. */
  readonly ifVersion?: number;
}

/** Options of `StateManager.patch`. */
export interface PatchOptions extends CommitOptions {
  /** JSON Pointer of the place that the patch is for. Default: the whole document. */
  readonly pointer?: string;
}

/** What an update function gets besides the draft. */
export interface UpdateContext {
  readonly version: number;
  /** Greater than 1 if the write lease was lost and the change is repeated on the newest value. */
  readonly attempt: number;
}

/**
 * Changes its draft, or returns a new value. It may run again, so it must have no other effects. Keep it short, because other writers
 * wait.
 */
export type StateUpdate<T> = (draft: T, context: UpdateContext) => T | undefined | Promise<T | undefined>;
