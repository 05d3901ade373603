/** What clients did, as they saw it: one operation with its call, its answer and the times of both. */
import type { JsonValue } from '../../src/core/json.js';

interface Conditional {
  /** 0: only while the key has no value. */
  readonly ifVersion?: number;
}

export type Request =
  | { readonly op: 'get' }
  | ({ readonly op: 'set'; readonly value: JsonValue } & Conditional)
  | ({ readonly op: 'delete' } & Conditional)
  | ({ readonly op: 'increment'; readonly delta: number } & Conditional)
  | ({ readonly op: 'append'; readonly items: readonly JsonValue[] } & Conditional);

export type Answer =
  | { readonly kind: 'none' }
  | { readonly kind: 'found'; readonly value: JsonValue; readonly version: number }
  | { readonly kind: 'changed'; readonly value: JsonValue; readonly version: number }
  | { readonly kind: 'deleted'; readonly was: boolean }
  | { readonly kind: 'conflict'; readonly currentVersion: number; readonly currentValue?: JsonValue };

export interface Operation {
  readonly id: string;
  readonly key: string;
  readonly request: Request;
  /** Times on one clock; the unit does not matter. */
  readonly call: number;
  readonly return: number;
  /** Null: it was lost, so it may have happened at any time after its call, or never. `return` says nothing then. */
  readonly answer: Answer | null;
}

/** What a client writes, one JSON line each. */
export type ClientEvent =
  | {
      readonly t: 'call';
      readonly id: string;
      readonly key: string;
      readonly request: Request;
      readonly ns: string;
    }
  | {
      readonly t: 'return';
      readonly id: string;
      readonly result: Answer | { readonly kind: 'error'; readonly code: string };
      readonly ns: string;
    };
