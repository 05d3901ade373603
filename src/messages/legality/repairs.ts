/** What a check finds and what a repair does, as data. Codes are part of the API. */

export type RepairCode =
  | 'add-interrupted-result'
  | 'hoist-result'
  | 'reorder-results'
  | 'drop-orphan-result'
  | 'drop-duplicate-result';

export interface Repair {
  readonly code: RepairCode;
  /** Index in the list before the repair. */
  readonly messageIndex: number;
  readonly reason: string;
  readonly callId?: string;
}

export interface Violation {
  /** `H4`: every call is answered at once; `H5`: no result elsewhere, none twice; `H6`: results in call order. */
  readonly rule: 'H4' | 'H5' | 'H6';
  readonly messageIndex: number;
  readonly reason: string;
  readonly callId?: string;
}

/** What the host knows beyond the list. */
export interface HistoryFacts {
  /** The text for a call without a result, by its message's index and its id. Default: the outcome is unknown. */
  readonly interruptedText?: (callId: string, messageIndex: number) => string;
  /** Calls that stay open on purpose (a host waits for an approval). */
  readonly keepOpen?: ReadonlySet<string>;
}

export interface RepairedHistory<M> {
  readonly messages: readonly M[];
  readonly repairs: readonly Repair[];
}
