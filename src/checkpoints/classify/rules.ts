/** Rules that weigh the parts of a context by key and content. Patterns run in linear time (RE2). */
import type { RE2JS } from 're2js';
import { messageOf, RekindleError } from '../../core/errors.js';
import { Type } from '../../core/schema.js';
import { lazySchema } from '../../core/schema-check.js';

/** The layers, most important first. */
export const LAYERS = ['CRITICAL', 'IMPORTANT', 'USEFUL', 'EPHEMERAL'] as const;
/** A layer of a context: how much a key matters. */
export type ContextLayer = (typeof LAYERS)[number];

/** One rule: a pattern that adds weight to a layer. */
export interface ClassificationRule {
  /**
   * `key_regex`: matches the key in lower case with `_` between words (`userGoal` is `user_goal`).
   * `content_heuristic`: matches the beginning of the value.
   */
  readonly type: 'key_regex' | 'content_heuristic';
  /** RE2 syntax: no look-around, no backreferences. */
  readonly pattern: string;
  /** Weight. Weights of a layer add up, and the key goes to the layer with the highest sum. */
  readonly priority: number;
}

/** The rules of each layer, as `config/classification.json` stores them. */
export interface ClassificationRules {
  readonly patterns: { readonly [Layer in ContextLayer]?: readonly ClassificationRule[] };
  /** Shares of a view's budget in percent, at most 100 in total. Default 30, 40, 20, 10. */
  readonly budgets?: { readonly [Layer in ContextLayer]?: number };
}

export type LayerBudgets = { readonly [Layer in ContextLayer]: number };

export interface CompiledRule {
  readonly layer: ContextLayer;
  readonly priority: number;
  readonly test: (text: string) => boolean;
}

export interface CompiledRules {
  readonly keyRules: readonly CompiledRule[];
  readonly contentRules: readonly CompiledRule[];
  readonly budgets: LayerBudgets;
}

/** Default share of each layer in a view's budget, in percent. */
export const DEFAULT_BUDGETS: LayerBudgets = { CRITICAL: 30, IMPORTANT: 40, USEFUL: 20, EPHEMERAL: 10 };

/**
 * Matches whole words of a key, so that `temperature`, `dialog`, `catalog` and `login` do not count as
 * temporary or as logs.
 */
function words(...alternatives: string[]): string {
  return `(?:^|_)(?:${alternatives.join('|')})(?:_|$)`;
}

const key = (pattern: string, priority = 10): ClassificationRule => ({
  type: 'key_regex',
  pattern,
  priority,
});
const content = (pattern: string, priority: number): ClassificationRule => ({
  type: 'content_heuristic',
  pattern,
  priority,
});

/** The built-in rules, used without a rules file. */
export const DEFAULT_RULES: ClassificationRules = {
  patterns: {
    CRITICAL: [
      key(words('goals?', 'objectives?', 'tasks?', 'instructions?', 'requirements?', 'constraints?')),
      key(
        words(
          'decisions?',
          'answers?',
          'approvals?',
          'user_requests?',
          'acceptance_criteria',
          'system_prompt',
        ),
      ),
      content('(?i)\\b(?:must not|must never|do not|non-negotiable|the user (?:asked|wants|said))\\b', 4),
    ],
    IMPORTANT: [
      key(
        words(
          'plans?',
          'steps?',
          'progress',
          'status',
          'state',
          'summary',
          'summaries',
          'results?',
          'findings?',
        ),
      ),
      key(
        words(
          'messages?',
          'history',
          'conversation',
          'context',
          'todos?',
          'open_questions?',
          'changes?',
          'errors?',
        ),
      ),
      content('\\b(?:TODO|FIXME|BLOCKED|NEXT STEPS?)\\b', 4),
    ],
    USEFUL: [key(words('notes?', 'references?', 'examples?', 'background', 'docs?', 'metadata', 'files?'))],
    EPHEMERAL: [
      key(words('tmp', 'temp', 'temporary', 'cache', 'cached', 'scratch', 'scratchpad', 'debug', 'verbose')),
      key(
        words(
          'logs?',
          'traces?',
          'timings?',
          'timestamps?',
          'heartbeat',
          'spinner',
          'cursor',
          'stdout',
          'stderr',
        ),
      ),
      content('(?m)^(?:\\[?\\d{4}-\\d{2}-\\d{2}[T ]\\d{2}:\\d{2}|\\[?(?:DEBUG|TRACE)\\b)', 4),
    ],
  },
  budgets: DEFAULT_BUDGETS,
};

const PATTERN_LENGTH_MAX = 512;
const RULES_MAX = 200;
/** Maximum steps of a compiled pattern, because matching time grows with them. */
const PROGRAM_MAX = 1_000;

const Rule = Type.Object(
  {
    type: Type.Union([Type.Literal('key_regex'), Type.Literal('content_heuristic')]),
    pattern: Type.String({ minLength: 1, maxLength: PATTERN_LENGTH_MAX }),
    priority: Type.Number({ exclusiveMinimum: 0, maximum: 1_000 }),
  },
  { additionalProperties: false },
);
const byLayer = <T>(value: T) => Object.fromEntries(LAYERS.map((layer) => [layer, value]));
const share = Type.Optional(Type.Number({ minimum: 0, maximum: 100 }));
export const checkRules = lazySchema(
  Type.Object(
    {
      patterns: Type.Object(byLayer(Type.Optional(Type.Array(Rule, { maxItems: RULES_MAX }))), {
        additionalProperties: false,
      }),
      budgets: Type.Optional(Type.Object(byLayer(share), { additionalProperties: false })),
    },
    { additionalProperties: false },
  ),
);

/**
 * Compiles classification rules for repeated use.
 * @throws RULES_INVALID for an invalid pattern, one that cannot run in linear time, or budgets above 100
 * percent
 */
export async function compileRules({ patterns, budgets }: ClassificationRules): Promise<CompiledRules> {
  const { RE2JS: engine } = await import('re2js');
  const ofType = (type: ClassificationRule['type']) =>
    LAYERS.flatMap((layer) =>
      (patterns[layer] ?? [])
        .filter((rule) => rule.type === type)
        .map((rule) => compileRule(engine, layer, rule)),
    );
  const [keyRules, contentRules] = [ofType('key_regex'), ofType('content_heuristic')];
  return { keyRules, contentRules, budgets: checkedBudgets(budgets) };
}

function compileRule(engine: typeof RE2JS, layer: ContextLayer, rule: ClassificationRule): CompiledRule {
  const { pattern, priority } = rule;
  const compiled = tryCompile(engine, layer, pattern);
  const size = compiled.programSize();
  if (size > PROGRAM_MAX) throw invalid(layer, pattern, `it is too large: ${size} steps of ${PROGRAM_MAX}`);
  return { layer, priority, test: (text) => compiled.test(text) };
}

function tryCompile(engine: typeof RE2JS, layer: ContextLayer, pattern: string): RE2JS {
  try {
    return engine.compile(pattern);
  } catch (cause) {
    throw invalid(layer, pattern, messageOf(cause), cause);
  }
}

function checkedBudgets(given: ClassificationRules['budgets']): LayerBudgets {
  if (!given) return DEFAULT_BUDGETS;
  const budgets = { CRITICAL: 0, IMPORTANT: 0, USEFUL: 0, EPHEMERAL: 0, ...given };
  const sum = LAYERS.reduce((total, layer) => total + budgets[layer], 0);
  if (sum <= 100) return budgets;
  throw new RekindleError('RULES_INVALID', `The budgets are ${sum} percent together; 100 is the most.`, {
    details: { budgets, sum },
  });
}

function invalid(layer: ContextLayer, pattern: string, problem: string, cause?: unknown): RekindleError {
  const text = `A ${layer} pattern is refused: ${problem}.`;
  return new RekindleError('RULES_INVALID', text, { details: { layer, pattern, problem }, cause });
}
