/** When to make the context smaller, and how much of it to keep. A pure decision. */
export interface CompactionPolicyOptions {
  /** Act when the request reaches this share of the input budget. Default 0.8. */
  readonly triggerRatio?: number;
  /** Share of the input budget that the context takes after a compaction. Default 0.5. */
  readonly targetRatio?: number;
  /** Largest share of the input budget that one tool result may take in the context. Default 0.1. */
  readonly resultRatio?: number;
  /** Turns that `compact()` keeps verbatim, where they fit. Default 4. */
  readonly rawTailTurns?: number;
  /** Longest summary or fact, in characters. Default 2,000. */
  readonly maxItemChars?: number;
  /** Kept free below the budget. Default 256. */
  readonly safetyMarginTokens?: number;
  /** Tokens that the model takes as input. Default: what is known of the model by its name, else 128,000. */
  readonly inputBudgetTokens?: number;
  /** Failures in a row after which automatic compaction stops. Default 3. */
  readonly failuresMax?: number;
}

export class CompactionPolicy {
  readonly triggerRatio: number;
  readonly targetRatio: number;
  readonly resultRatio: number;
  readonly rawTailTurns: number;
  readonly maxItemChars: number;
  readonly safetyMarginTokens: number;
  readonly inputBudgetTokens: number;
  /** Whether the host said the budget: it goes before what is known of a model. */
  readonly isBudgetGiven: boolean;
  readonly failuresMax: number;

  constructor(options: CompactionPolicyOptions = {}) {
    this.triggerRatio = options.triggerRatio ?? 0.8;
    this.targetRatio = options.targetRatio ?? 0.5;
    this.resultRatio = options.resultRatio ?? 0.1;
    this.rawTailTurns = options.rawTailTurns ?? 4;
    this.maxItemChars = options.maxItemChars ?? 2_000;
    this.safetyMarginTokens = options.safetyMarginTokens ?? 256;
    this.inputBudgetTokens = options.inputBudgetTokens ?? 128_000;
    this.isBudgetGiven = options.inputBudgetTokens !== undefined;
    this.failuresMax = options.failuresMax ?? 3;
  }

  get triggerTokens(): number {
    return this.triggerTokensOf(this.inputBudgetTokens);
  }

  /** The size of a request from which on it is made smaller. */
  triggerTokensOf(inputBudget: number): number {
    return Math.max(1, Math.floor(inputBudget * this.triggerRatio) - this.safetyMarginTokens);
  }

  /** The size that a request is brought down to. */
  targetTokensOf(inputBudget: number): number {
    return Math.max(1, Math.floor(inputBudget * this.targetRatio));
  }

  /** The size that no request may pass. */
  limitTokensOf(inputBudget: number): number {
    return Math.max(1, inputBudget - this.safetyMarginTokens);
  }

  shouldCompact(promptTokens: number, inputBudget: number = this.inputBudgetTokens): boolean {
    return promptTokens >= this.triggerTokensOf(inputBudget);
  }
}
