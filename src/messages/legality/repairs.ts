/** The results of a check and of a repair, as data. Codes are part of the API; `docs/legality.md` describes each. */

export const RULE_IDS = [
  ...(['H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'H7'] as const),
  ...(['H8', 'H9', 'H10', 'H11', 'H12', 'H13', 'H14'] as const),
] as const;
/** A rule for histories. `docs/legality.md` describes each. */
export type RuleId = (typeof RULE_IDS)[number];

export const REPAIR_CODES = [
  'replace-unknown-role',
  'replace-system',
  'merge-system',
  'move-system',
  'drop-repeated-system',
  'demote-system',
  'add-opening-user',
  'add-interrupted-result',
  'hoist-result',
  'merge-assistant',
  'relink-result',
  'reorder-results',
  'drop-orphan-result',
  'note-late-result',
  'drop-duplicate-result',
  'rename-call-id',
  'normalise-arguments',
  'wrap-raw-arguments',
  'drop-unfinished-call',
  'drop-partial-reasoning',
  'drop-empty-message',
  'fill-empty-result',
  'fix-unicode',
  'merge-result-and-error',
  'name-result',
  'omit-empty-tool-calls',
  'drop-hollow-reasoning',
  'drop-replayed-duplicate',
  'drop-repeated-message-id',
] as const;
/** A kind of repair. Part of the API. */
export type RepairCode = (typeof REPAIR_CODES)[number];

/** One change that `repairHistory` made. */
export interface Repair {
  readonly code: RepairCode;
  /** Index in the list before the repair. */
  readonly messageIndex: number;
  readonly reason: string;
  readonly callId?: string;
}

/** One place where a history breaks a rule, as `checkHistory` reports it. */
export interface Violation {
  readonly rule: RuleId;
  readonly messageIndex: number;
  readonly reason: string;
  readonly callId?: string;
}

/** Facts that the host knows and the list does not show. */
export interface HistoryFacts {
  /** The text for a call without a result, by the call's id and the index of its message. Default: the outcome is unknown. */
  readonly interruptedText?: (callId: string, messageIndex: number) => string;
  /** Calls that stay open on purpose (a host waits for an approval). */
  readonly keepOpen?: Pick<ReadonlySet<string>, 'has'>;
  /** The current system prompt. Other system messages are superseded by it. */
  readonly systemPrompt?: string;
}

/** The result of `repairHistory`: the legal list, and what was changed. `repairs` is empty if the list was legal. */
export interface RepairedHistory<M> {
  readonly messages: readonly M[];
  readonly repairs: readonly Repair[];
}
