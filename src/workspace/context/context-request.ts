/** The request for a part of a workspace, and its result. */

/** The keys that an agent depends on, declared once per agent. A key in `excluded` is never shown. */
export interface ContextDependencies {
  readonly required: readonly string[];
  readonly optional?: readonly string[];
  readonly excluded?: readonly string[];
}

/** Limits in tokens (o200k), counted on the text as shown. */
export interface ContextBudget {
  /** Limit of the whole block. Default: none. */
  readonly total?: number;
  /** Limit of one key with its enclosing element. Default: only the total. */
  readonly perKey?: { readonly [key: string]: number };
}

/** What to show of a workspace, for whom, and how much. */
export interface ContextRequest {
  /** The agent that asks; optional entries that it wrote itself are left out. Null: show them, too. */
  readonly agent: string | null;
  readonly dependencies: ContextDependencies;
  readonly budget?: ContextBudget;
  /** Older entries are named but not shown. Default: no limit. */
  readonly maxAgeSeconds?: number;
  /** Keys that are shown only as a summary; true: all keys. */
  readonly summaries?: readonly string[] | true;
  /** The agent that makes each key; named if the key is missing. */
  readonly producers?: { readonly [key: string]: string };
  /** Ends the selection with ABORTED. */
  readonly signal?: AbortSignal;
}

/**
 * How a key is shown. `own`: optional, and written by the asking agent. `left-out`: the budget was used up.
 */
export type ContextStatus =
  | 'full'
  | 'truncated'
  | 'summary'
  | 'missing'
  | 'stale'
  | 'own'
  | 'excluded'
  | 'left-out';

/** How one key of the request is shown. */
export interface ContextKey {
  readonly key: string;
  readonly required: boolean;
  readonly status: ContextStatus;
  /** Tokens of the shown part. */
  readonly tokens: number;
  /** Items and properties of the value that are not shown. */
  readonly leftOut: number;
}

/** The result of `selectContext`. */
export interface SelectiveContext {
  /** Well-formed XML. */
  readonly text: string;
  /** Tokens of the text. */
  readonly tokens: number;
  /** In the order of the text. */
  readonly keys: readonly ContextKey[];
  /** Required keys that are missing or stale. */
  readonly unmet: readonly string[];
}
