/**
 * The part of a context that a model is shown within a token budget. Each layer has a share; unused tokens go
 * to the others. A value is shown whole, or cut between its items, or left out, and the view says which. The
 * context itself does not change.
 */
import { type CountValue, fitValue, isWithin } from '../../core/fit-value.js';
import { type JsonObject, type JsonValue, setOwn } from '../../core/json.js';
import { type CountTokens, loadTokenizer } from '../../core/text-tokens.js';
import type { KeyVerdict } from './classify.js';
import { type ContextLayer, LAYERS, type LayerBudgets } from './rules.js';

/** How one key of the context is shown. */
export interface ShownKey {
  readonly key: string;
  readonly layer: ContextLayer;
  readonly marked: boolean;
  readonly shown: 'whole' | 'cut' | 'left out';
  readonly tokens: number;
  /** Items and properties of the value that were left out. */
  readonly leftOut: number;
}

/** A part of a context that fits a token budget. */
export interface ContextView {
  /** The shown part, in the order of the context. */
  readonly context: JsonObject;
  /** Tokens of its JSON. Exceeds the budget only if the critical keys do. */
  readonly tokens: number;
  readonly budget: number;
  readonly keys: readonly ShownKey[];
}

interface Part {
  readonly value: JsonValue;
  readonly verdict: KeyVerdict;
  fitted: JsonValue | undefined;
  tokens: number;
  leftOut: number;
}

/** The braces around everything. */
const FRAME_TOKENS = 2;

/**
 * Shows a context within a token budget: the values of the most important keys, and the names of the others.
 * @param budget in tokens (o200k)
 */
export async function viewContext(
  context: JsonObject,
  verdicts: readonly KeyVerdict[],
  budget: number,
  shares: LayerBudgets,
): Promise<ContextView> {
  const view = new View(budget, await loadTokenizer());
  const parts = verdicts.map(
    (verdict): Part => ({ value: context[verdict.key]!, verdict, fitted: undefined, tokens: 0, leftOut: 0 }),
  );
  for (const part of parts) if (part.verdict.marked) view.addWhole(part);
  const layers = LAYERS.map((layer) => ({ layer, parts: inLayer(parts, layer) }));
  view.fill(layers, shares);
  return view.finish(parts);
}

/** Most important first; equal ones in their order. */
function inLayer(parts: readonly Part[], layer: ContextLayer): Part[] {
  return parts
    .filter(({ verdict }) => verdict.layer === layer && !verdict.marked)
    .sort((a, b) => b.verdict.score - a.verdict.score);
}

class View {
  readonly #budget: number;
  readonly #countText: CountTokens;
  #left: number;

  constructor(budget: number, count: CountTokens) {
    this.#budget = budget;
    this.#countText = count;
    this.#left = budget - FRAME_TOKENS;
  }

  readonly #count: CountValue = (value) => this.#countText(JSON.stringify(value));

  addWhole(part: Part): void {
    part.fitted = part.value;
    part.tokens = this.#keyTokens(part) + this.#count(part.value);
    this.#left -= part.tokens;
  }

  fill(
    layers: readonly { readonly layer: ContextLayer; readonly parts: readonly Part[] }[],
    shares: LayerBudgets,
  ): void {
    const whole = Math.max(0, this.#left);
    for (const { layer, parts } of layers) {
      let room = Math.floor((whole * shares[layer]) / 100);
      for (const part of parts) room -= this.#fit(part, room);
    }
    // Unused tokens go to keys that need more, in the most important layer first.
    for (const { parts } of layers)
      for (const part of parts) if (part.fitted !== part.value) this.#fit(part, part.tokens + this.#left);
  }

  /** Shows as much of a value as fits. Returns the additional tokens. */
  #fit(part: Part, room: number): number {
    const key = this.#keyTokens(part);
    const fitted = isWithin(part.value, room - key, this.#count)
      ? { value: part.value, leftOut: 0 }
      : fitValue(part.value, room - key, this.#count);
    if (!fitted) return 0;
    const tokens = key + this.#count(fitted.value);
    // A text that was cut shows more of itself with as much left out.
    const isNoMore = part.fitted !== undefined && (fitted.leftOut > part.leftOut || tokens <= part.tokens);
    if (tokens > room || isNoMore) return 0;
    const more = tokens - part.tokens;
    part.fitted = fitted.leftOut === 0 ? part.value : fitted.value;
    part.leftOut = fitted.leftOut;
    part.tokens = tokens;
    this.#left -= more;
    return more;
  }

  /** With quotes, colon and comma. */
  #keyTokens({ verdict }: Part): number {
    return this.#count(verdict.key) + 2;
  }

  finish(parts: readonly Part[]): ContextView {
    const context: JsonObject = {};
    for (const { verdict, fitted } of parts) if (fitted !== undefined) setOwn(context, verdict.key, fitted);
    const keys = parts.map(
      ({ value, verdict: { key, layer, marked }, fitted, tokens, leftOut }): ShownKey => {
        const shown = fitted === undefined ? 'left out' : fitted === value ? 'whole' : 'cut';
        return { key, layer, marked, shown, tokens, leftOut };
      },
    );
    return { context, tokens: this.#count(context), budget: this.#budget, keys };
  }
}
