/** How many tokens the next request may have, by our own count: what the host says, and what is known of the model. */
import type { CompactionPolicy } from '../compaction/compaction-policy.js';
import { knownInputTokens, type ModelSizes } from './model-sizes.js';
import type { LengthRefusal } from './provider-refusal.js';

export interface BudgetRequest {
  /** Tokens that the model takes as input. Default: the policy's where it was given, else what is known of the model, else 128,000. */
  readonly inputBudgetTokens?: number;
  /** Which model is asked: its input size may be known, and what its provider counted is kept under its name. */
  readonly model?: string;
}

/** Of hosts that name no model. */
const UNNAMED = 'unnamed';

export class InputBudget {
  readonly #policy: CompactionPolicy;
  readonly #sizes: ModelSizes;
  #last: BudgetRequest = {};
  #tokens: number;

  constructor(policy: CompactionPolicy, sizes: ModelSizes) {
    this.#policy = policy;
    this.#sizes = sizes;
    this.#tokens = policy.inputBudgetTokens;
  }

  /** Of the last request, in our tokens. */
  get tokens(): number {
    return this.#tokens;
  }

  /** In our tokens. What a request does not say is as in the request before it. */
  async of(request: BudgetRequest): Promise<number> {
    const { inputBudgetTokens = this.#last.inputBudgetTokens, model = this.#last.model } = request;
    this.#last = {
      ...(inputBudgetTokens === undefined ? {} : { inputBudgetTokens }),
      ...(model === undefined ? {} : { model }),
    };
    const { limitTokens, ratio } = await this.#sizes.of(model ?? UNNAMED);
    const { inputBudgetTokens: ofPolicy, isBudgetGiven } = this.#policy;
    const known = isBudgetGiven || model === undefined ? null : knownInputTokens(model);
    const wanted = inputBudgetTokens ?? known ?? ofPolicy;
    this.#tokens = Math.max(1, Math.floor(Math.min(wanted, limitTokens ?? wanted) / ratio));
    return this.#tokens;
  }

  /** What the provider counted for the last request, of `ourTokens`. */
  async seen(ourTokens: number, inputTokens: number): Promise<void> {
    await this.#sizes.seen(this.#last.model ?? UNNAMED, ourTokens, inputTokens);
  }

  async refused(ourTokens: number, refusal: LengthRefusal): Promise<void> {
    await this.#sizes.refused(this.#last.model ?? UNNAMED, ourTokens, refusal);
    await this.#sizes.save();
  }

  /** Makes what was learned durable, where it is news. */
  async save(): Promise<void> {
    await this.#sizes.save();
  }
}
