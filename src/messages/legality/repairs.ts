/** What a check finds and what a repair does, as data. Codes are part of the API; `docs/legality.md` has a line for each. */

export const RULE_IDS = [
  ...(['H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'H7'] as const),
  ...(['H8', 'H9', 'H10', 'H11', 'H12', 'H13', 'H14'] as const),
] as const;
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
export type RepairCode = (typeof REPAIR_CODES)[number];

export interface Repair {
  readonly code: RepairCode;
  /** Index in the list before the repair. */
  readonly messageIndex: number;
  readonly reason: string;
  readonly callId?: string;
}

export interface Violation {
  readonly rule: RuleId;
  readonly messageIndex: number;
  readonly reason: string;
  readonly callId?: string;
}

/** What the host knows beyond the list. */
export interface HistoryFacts {
  /** The text for a call without a result, by its message's index and its id. Default: the outcome is unknown. */
  readonly interruptedText?: (callId: string, messageIndex: number) => string;
  /** Calls that stay open on purpose (a host waits for an approval). */
  readonly keepOpen?: Pick<ReadonlySet<string>, 'has'>;
  /** The current system prompt: what other system messages say is superseded. */
  readonly systemPrompt?: string;
}

export interface RepairedHistory<M> {
  readonly messages: readonly M[];
  readonly repairs: readonly Repair[];
}
