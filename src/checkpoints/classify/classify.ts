/** Assigns the parts of a context to layers. This affects only views, never what is stored. */
import { isJsonObject, type JsonObject, type JsonValue, setOwn } from '../../core/json.js';
import { type CompiledRule, type CompiledRules, type ContextLayer, LAYERS } from './rules.js';

/** The parts of a context by layer. Each key is in one layer. */
export type ClassifiedContext = { readonly [Layer in ContextLayer]: JsonObject };

/** The layer of one key. */
export interface KeyVerdict {
  readonly key: string;
  readonly layer: ContextLayer;
  /** Sum of the layer's matching rules; 0 if none matched. */
  readonly score: number;
  /** The key was marked as critical: no view drops it. */
  readonly marked: boolean;
}

export interface ClassifyOptions {
  /** Keys that are critical regardless of the rules. */
  readonly marks?: ReadonlySet<string>;
  /** Apply rules about contents, too. Default true. */
  readonly heuristics?: boolean;
}

/** For keys that no rule matches. */
const DEFAULT_LAYER: ContextLayer = 'USEFUL';
/** Characters of a value that rules about contents examine. */
const EXCERPT = 1_000;

/** In the order of the context. */
export function classify(
  context: JsonObject,
  { keyRules, contentRules: allContentRules }: CompiledRules,
  { marks = new Set(), heuristics = true }: ClassifyOptions = {},
): KeyVerdict[] {
  const contentRules = heuristics ? allContentRules : [];
  return Object.entries(context).map(([key, value]) => {
    if (marks.has(key)) return { key, layer: 'CRITICAL', score: Number.POSITIVE_INFINITY, marked: true };
    const scores = new Map<ContextLayer, number>();
    addScores(scores, keyRules, wordsOf(key));
    if (contentRules.length > 0) addScores(scores, contentRules, excerptOf(value));
    return { key, ...highest(scores), marked: false };
  });
}

function addScores(scores: Map<ContextLayer, number>, rules: readonly CompiledRule[], text: string): void {
  for (const { layer, priority, test } of rules)
    if (test(text)) scores.set(layer, (scores.get(layer) ?? 0) + priority);
}

/** The values themselves, not copies. */
export function byLayer(context: JsonObject, verdicts: readonly KeyVerdict[]): ClassifiedContext {
  const layers = { CRITICAL: {}, IMPORTANT: {}, USEFUL: {}, EPHEMERAL: {} };
  for (const { key, layer } of verdicts) setOwn(layers[layer], key, context[key]!);
  return layers;
}

/** If scores are equal, the more important layer. */
function highest(scores: ReadonlyMap<ContextLayer, number>): { layer: ContextLayer; score: number } {
  let best = { layer: DEFAULT_LAYER, score: 0 };
  for (const layer of LAYERS) {
    const score = scores.get(layer) ?? 0;
    if (score > best.score) best = { layer, score };
  }
  return best;
}

/** `userGoal`, `user-goal` and `USER_GOAL` become `user_goal`. */
function wordsOf(key: string): string {
  return key
    .slice(0, 200)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9\u0080-\uffff]+/g, '_')
    .toLowerCase();
}

/** The first texts in a value. */
function excerptOf(value: JsonValue): string {
  const parts: string[] = [];
  let room = EXCERPT;
  const stack: JsonValue[] = [value];
  while (room > 0 && stack.length > 0) {
    const next = stack.pop()!;
    if (typeof next === 'string') {
      parts.push(next.slice(0, room));
      room -= next.length + 1;
    } else if (Array.isArray(next)) stack.push(...next.slice(0, 50).reverse());
    else if (isJsonObject(next)) stack.push(...Object.values(next).slice(0, 50).reverse());
  }
  return parts.join('\n');
}
