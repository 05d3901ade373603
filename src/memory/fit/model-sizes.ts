/**
 * What is known of the models that an agent has used: their input size, and how their tokens relate to our count.
 * Learned from the usage and refusals of providers, and stored next to the agent's journals in `model_sizes.json`. It
 * is only a hint: without it, the next refusal teaches it again.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import type { Documents } from '../../storage/ports.js';
import type { LengthRefusal } from './provider-refusal.js';

export interface ModelSize {
  /** Largest input, in the provider's tokens, as reported by a refusal. */
  readonly limitTokens: number | null;
  /** The provider's tokens per token of ours; at least 1. */
  readonly ratio: number;
}

const UNKNOWN: ModelSize = { limitTokens: null, ratio: 1 };
/** Smaller requests are not representative: the provider's fixed overhead weighs too much. */
const USAGE_TOKENS_MIN = 1_000;
const RATIO_MAX = 4;
/** A lower ratio is adopted slowly: one request without dense text must not make the next one too large. */
const SLOWNESS = 0.9;
/** After a refusal without sizes, this share of the refused size is tried. */
const GUESSED_SHARE = 0.75;
/** Smaller changes are not written. */
const WORTH_WRITING = 0.05;

/** Input size of models in tokens, by the beginning of their name; the longest match wins. */
const KNOWN: Readonly<Record<string, number>> = {
  'gpt-3.5-turbo': 16_385,
  'gpt-4': 8_192,
  'gpt-4-turbo': 128_000,
  'gpt-4o': 128_000,
  'gpt-4.1': 1_047_576,
  'gpt-5': 272_000,
  o1: 200_000,
  'o1-mini': 128_000,
  o3: 200_000,
  o4: 200_000,
  claude: 200_000,
  'gemini-1.5': 1_048_576,
  'gemini-2': 1_048_576,
  'gemini-3': 1_048_576,
  'mistral-large': 128_000,
  'deepseek-chat': 128_000,
  'deepseek-reasoner': 128_000,
};

/** Null for an unknown model name. `provider/model` is read as `model`. */
export function knownInputTokens(model: string): number | null {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  const beginnings = Object.keys(KNOWN).filter((beginning) => isNamed(name, beginning));
  const longest = beginnings.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? null : KNOWN[longest]!;
}

/** `gpt-4` does not match `gpt-42`. */
function isNamed(name: string, beginning: string): boolean {
  return name.startsWith(beginning) && !/^\d/.test(name.slice(beginning.length));
}

export class ModelSizes {
  readonly #documents: Documents;
  readonly #name: readonly string[];
  #models: Map<string, ModelSize> | null = null;
  #written = new Map<string, ModelSize>();

  constructor(documents: Documents, agentId: string) {
    this.#documents = documents;
    this.#name = ['agents', agentId, 'model_sizes.json'];
  }

  async of(model: string): Promise<ModelSize> {
    return (await this.#load()).get(model) ?? UNKNOWN;
  }

  /** The provider's count for a request of `ourTokens`. */
  async seen(model: string, ourTokens: number, inputTokens: number): Promise<void> {
    if (ourTokens < USAGE_TOKENS_MIN || inputTokens < USAGE_TOKENS_MIN) return;
    const models = await this.#load();
    const known = models.get(model) ?? UNKNOWN;
    const now = clampRatio(inputTokens / ourTokens);
    const ratio = now >= known.ratio ? now : clampRatio(known.ratio * SLOWNESS + now * (1 - SLOWNESS));
    models.set(model, { ...known, ratio });
  }

  /** A request of `ourTokens` was refused because of its length. */
  async refused(model: string, ourTokens: number, { limitTokens, usedTokens }: LengthRefusal): Promise<void> {
    const models = await this.#load();
    const known = models.get(model) ?? UNKNOWN;
    const ratio =
      usedTokens === null || ourTokens < 1
        ? known.ratio
        : Math.max(known.ratio, clampRatio(usedTokens / ourTokens));
    const guessed = Math.max(1, Math.floor((usedTokens ?? ourTokens * ratio) * GUESSED_SHARE));
    models.set(model, { limitTokens: limitTokens ?? guessed, ratio });
  }

  /** Makes new findings durable. @throws what storage throws */
  async save(): Promise<void> {
    if (!this.#models || ![...this.#models].some(([model, size]) => isNews(this.#written.get(model), size)))
      return;
    const written = new Map(this.#models);
    const value: JsonObject = Object.fromEntries([...written].map(([model, size]) => [model, toJson(size)]));
    await this.#documents.write(this.#name, { format: 1, models: value });
    this.#written = written;
  }

  async #load(): Promise<Map<string, ModelSize>> {
    if (this.#models) return this.#models;
    const document = await this.#documents.read(this.#name).catch(() => null); // it is only a hint
    this.#models ??= fromJson(document?.value);
    this.#written = new Map(this.#models);
    return this.#models;
  }
}

function clampRatio(ratio: number): number {
  return Math.min(RATIO_MAX, Math.max(1, ratio));
}

function isNews(old: ModelSize = UNKNOWN, now: ModelSize): boolean {
  return old.limitTokens !== now.limitTokens || Math.abs(now.ratio / old.ratio - 1) > WORTH_WRITING;
}

function toJson({ limitTokens, ratio }: ModelSize): JsonObject {
  return { limit_tokens: limitTokens, ratio };
}

function fromJson(value: JsonValue | undefined): Map<string, ModelSize> {
  const models = isJsonObject(value) && isJsonObject(value['models']) ? value['models'] : {};
  const sizes = new Map<string, ModelSize>();
  for (const [model, size] of Object.entries(models)) {
    if (!isJsonObject(size)) continue;
    const { limit_tokens: limit, ratio } = size;
    sizes.set(model, {
      limitTokens: typeof limit === 'number' && limit >= 1 ? limit : null,
      ratio: typeof ratio === 'number' ? clampRatio(ratio) : 1,
    });
  }
  return sizes;
}
