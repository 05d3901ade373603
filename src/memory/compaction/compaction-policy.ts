/** When to compact, and how much to keep. A pure decision. */
export interface CompactionPolicyOptions {
  /** Compact when the prompt reaches this share of the input budget. Default 0.8. */
  readonly triggerRatio?: number;
  /** Turns that stay verbatim. Default 4. */
  readonly rawTailTurns?: number;
  /** Longest summary or fact, in characters. Default 2,000. */
  readonly maxItemChars?: number;
  /** Kept free below the budget. Default 256. */
  readonly safetyMarginTokens?: number;
  /** Tokens that the model takes as input. Default 128,000. */
  readonly inputBudgetTokens?: number;
  /** Failures in a row after which automatic compaction stops. Default 3. */
  readonly failuresMax?: number;
}

export class CompactionPolicy {
  readonly triggerRatio: number;
  readonly rawTailTurns: number;
  readonly maxItemChars: number;
  readonly safetyMarginTokens: number;
  readonly inputBudgetTokens: number;
  readonly failuresMax: number;

  constructor(options: CompactionPolicyOptions = {}) {
    this.triggerRatio = options.triggerRatio ?? 0.8;
    this.rawTailTurns = options.rawTailTurns ?? 4;
    this.maxItemChars = options.maxItemChars ?? 2_000;
    this.safetyMarginTokens = options.safetyMarginTokens ?? 256;
    this.inputBudgetTokens = options.inputBudgetTokens ?? 128_000;
    this.failuresMax = options.failuresMax ?? 3;
  }

  get triggerTokens(): number {
    return Math.max(1, Math.floor(this.inputBudgetTokens * this.triggerRatio) - this.safetyMarginTokens);
  }

  shouldCompact(promptTokens: number, inputBudget: number = this.inputBudgetTokens): boolean {
    return promptTokens >= Math.max(1, Math.floor(inputBudget * this.triggerRatio) - this.safetyMarginTokens);
  }
}
