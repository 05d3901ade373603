/** The token budget of the next request, by our own count: from the host's settings, and from what is known of the model. */
import type { CompactionPolicy } from '../compaction/compaction-policy.js';
import { knownInputTokens, type ModelSizes } from './model-sizes.js';
import type { LengthRefusal } from './provider-refusal.js';

export interface BudgetRequest {
  /** Input tokens that the model accepts. Default: the policy's if given, else the known size of the model, else 128,000. */
  readonly inputBudgetTokens?: number;
  /** Name of the model: its input size may be known, and its provider's counts are stored under this name. */
  readonly model?: string;
}

/** Used for hosts that name no model. */
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

  /** The budget of the last request, in our tokens. */
  get tokens(): number {
    return this.#tokens;
  }

  /** In our tokens. Missing settings are taken from the previous request. */
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

  /** The provider's count for the last request of `ourTokens`. */
  async seen(ourTokens: number, inputTokens: number): Promise<void> {
    await this.#sizes.seen(this.#last.model ?? UNNAMED, ourTokens, inputTokens);
  }

  async refused(ourTokens: number, refusal: LengthRefusal): Promise<void> {
    await this.#sizes.refused(this.#last.model ?? UNNAMED, ourTokens, refusal);
    await this.#sizes.save();
  }

  /** Makes new findings durable. */
  async save(): Promise<void> {
    await this.#sizes.save();
  }
}
