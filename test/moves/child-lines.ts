/** What a host process is told on its input, and what it tells on its output: JSON, one a line. */

/** Where in its work an owner can be met. */
export const POINTS = {
  started: 'before the model',
  model: 'in the model',
  calls: 'before a tool',
  run: 'in a tool, before its effect',
  effect: 'in a tool, after its effect',
  result: 'after a tool',
  append: 'before an append',
  sent: 'append sent, answer lost',
  appended: 'between append and acknowledgement',
  turn: 'idle',
} as const;

export type Point = keyof typeof POINTS;

/** A bug to build in, which the campaign must find: an owner whose fence is not looked at. */
export type Plant = 'no-fence';

export interface HostSettings {
  readonly url: string;
  readonly host: string;
  /** Every run of a tool appends a line: `<idempotency key> <tag> <tool>`. */
  readonly effectsFile: string;
  readonly leaseTtlMs: number;
  readonly plant?: Plant;
}

export type Command =
  /** Restore the agent (or begin it), however often it is refused. `tag` is in all that this owner writes. */
  | { readonly do: 'own'; readonly agentId: string; readonly tag: string; readonly seed: number }
  /** Go on with what was interrupted, then turn after turn until the lease is lost. */
  | { readonly do: 'go' }
  /** Stand still for a moment at the n-th time that this point is met from now on. */
  | { readonly do: 'linger'; readonly point: Point; readonly nth: number };

export interface Restored {
  readonly type: 'restored';
  readonly tag: string;
  /** What it was restored from, and why not from the cache; null for an agent that is new. */
  readonly source: string | null;
  /** What is illegal in the restored list, or in the next request of a provider. */
  readonly problems: readonly string[];
  /** Idempotency keys of the calls whose outcome the report calls unknown. */
  readonly unknown: readonly string[];
  readonly interrupted: boolean;
}

export type Line =
  | { readonly type: 'ready' }
  | { readonly type: 'trying'; readonly tag: string }
  | { readonly type: 'refused'; readonly tag: string }
  | Restored
  | { readonly type: 'point'; readonly tag: string; readonly point: Point }
  | { readonly type: 'lingers'; readonly tag: string; readonly point: Point }
  /** A turn that resolved (its answer), or a call whose result was told (its id). */
  | { readonly type: 'ack'; readonly tag: string; readonly what: 'turn' | 'result'; readonly id: string }
  | { readonly type: 'failed'; readonly tag: string; readonly code: string }
  /** The store refused an append because another owns the lease. */
  | { readonly type: 'append-fenced'; readonly tag: string }
  | { readonly type: 'fenced'; readonly tag: string; readonly code: string }
  | { readonly type: 'closed'; readonly tag: string; readonly ms: number };
