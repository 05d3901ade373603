/** What one agent wants to see of a workspace, and how much of it. */

/** Declared once per agent. A key in `excluded` is never shown, wherever else it stands. */
export interface ContextDependencies {
  readonly required: readonly string[];
  readonly optional?: readonly string[];
  readonly excluded?: readonly string[];
}

/** In tokens (o200k), counted on the text as it is shown. */
export interface ContextBudget {
  /** Of the whole block. Default: no limit. */
  readonly total?: number;
  /** Of one key with what surrounds it. Default: no limit but the total. */
  readonly perKey?: { readonly [key: string]: number };
}

export interface ContextRequest {
  /** Who asks: optional entries that it wrote itself are not offered back. Null: nobody in particular, so everything is offered. */
  readonly agent: string | null;
  readonly dependencies: ContextDependencies;
  readonly budget?: ContextBudget;
  /** Entries that are older are named, not shown. Default: no limit. */
  readonly maxAgeSeconds?: number;
  /** Keys of which only a summary is shown; true: of all. */
  readonly summaries?: readonly string[] | true;
  /** Who makes which key: named where it is missing. */
  readonly producers?: { readonly [key: string]: string };
  /** Ends the selection with ABORTED. */
  readonly signal?: AbortSignal;
}

/** What became of a key. `own`: optional, and written by the agent that asks. `left-out`: the budget was used up. */
export type ContextStatus =
  | 'full'
  | 'truncated'
  | 'summary'
  | 'missing'
  | 'stale'
  | 'own'
  | 'excluded'
  | 'left-out';

export interface ContextKey {
  readonly key: string;
  readonly required: boolean;
  readonly status: ContextStatus;
  /** Of what is shown of it. */
  readonly tokens: number;
  /** Items and properties of the value that are not shown. */
  readonly leftOut: number;
}

export interface SelectiveContext {
  /** Well-formed XML. */
  readonly text: string;
  /** Of the text. */
  readonly tokens: number;
  /** In the order of the text. */
  readonly keys: readonly ContextKey[];
  /** Required keys that are missing or stale. */
  readonly unmet: readonly string[];
}
