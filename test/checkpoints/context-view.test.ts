import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify, type KeyVerdict } from '../../src/checkpoints/classify/classify.js';
import { type ContextView, viewContext } from '../../src/checkpoints/classify/context-view.js';
import {
  type ContextLayer,
  compileRules,
  DEFAULT_BUDGETS,
  DEFAULT_RULES,
} from '../../src/checkpoints/classify/rules.js';
import type { JsonObject } from '../../src/core/json.js';
import { loadTokenizer } from '../../src/core/text-tokens.js';
import { runParameters } from '../property/seed.js';
import { anyContext, errorOf, Place } from './checkpoint-kit.js';

const count = await loadTokenizer();
const rules = await compileRules(DEFAULT_RULES);
const LETTERS: Readonly<Record<string, ContextLayer>> = {
  c: 'CRITICAL',
  i: 'IMPORTANT',
  u: 'USEFUL',
  e: 'EPHEMERAL',
};

/** The first letter of a key says its layer; one that ends in `!` is marked. */
function verdictsOf(context: JsonObject): KeyVerdict[] {
  return Object.keys(context).map((key) => {
    const marked = key.endsWith('!');
    return { key, layer: marked ? 'CRITICAL' : (LETTERS[key[0] ?? ''] ?? 'USEFUL'), score: 1, marked };
  });
}

function view(context: JsonObject, budget: number): Promise<ContextView> {
  return viewContext(context, verdictsOf(context), budget, DEFAULT_BUDGETS);
}

/** Sentences with about so many tokens together. */
function words(tokens: number): string[] {
  const sentence = (n: number) => `the red fox number ${n} runs over the green hills of the north`;
  return Array.from({ length: Math.ceil(tokens / 18) }, (_, n) => sentence(n));
}

function tokensOf(shown: ContextView, layer: ContextLayer): number {
  const own = shown.keys.filter((key) => key.layer === layer);
  return own.reduce((sum, { tokens }) => sum + tokens, 0);
}

describe('a view', () => {
  it('is the context itself where there is room, with its keys in their order', async () => {
    const context = { u: [1, { a: null }], c: 'x', e: {}, i: 0 };
    const shown = await view(context, 1_000);
    expect(JSON.stringify(shown.context)).toBe(JSON.stringify(context));
    expect(shown.tokens).toBe(count(JSON.stringify(context)));
    expect(shown.keys.map(({ shown: how, leftOut }) => [how, leftOut])).toEqual(
      Array.from({ length: 4 }, () => ['whole', 0]),
    );
  });

  it('gives each layer its share, 30, 40, 20 and 10 percent, where all have more', async () => {
    const context = { e: words(3_000), u: words(3_000), c: words(3_000), i: words(3_000) };
    const shown = await view(context, 1_000);
    for (const [layer, share] of Object.entries(DEFAULT_BUDGETS)) {
      const tokens = tokensOf(shown, layer as ContextLayer);
      expect(tokens, layer).toBeLessThanOrEqual(share * 10 + 60);
      expect(tokens, layer).toBeGreaterThan(share * 10 - 60);
    }
    expect(Object.keys(shown.context)).toEqual(['e', 'u', 'c', 'i']);
  });

  it('passes on what a layer does not use, to those after it and to those before', async () => {
    const after = await view({ c: 'x', i: words(3_000) }, 1_000);
    expect(tokensOf(after, 'IMPORTANT')).toBeGreaterThan(800);
    const before = await view({ c: words(3_000), e: 'x' }, 1_000);
    expect(tokensOf(before, 'CRITICAL')).toBeGreaterThan(800);
  });

  it('shows what is marked whole, also above the budget, and then nothing else', async () => {
    const context = { i: words(50), 'tmp!': words(500), c: 'x' };
    const shown = await view(context, 100);
    expect(shown.context).toEqual({ 'tmp!': context['tmp!'] });
    expect(shown.tokens).toBeGreaterThan(100);
    expect(shown.budget).toBe(100);
    expect(shown.keys.map(({ key, shown: how, marked }) => [key, how, marked])).toEqual([
      ['i', 'left out', false],
      ['tmp!', 'whole', true],
      ['c', 'left out', false],
    ]);
  });

  it('takes from all layers alike what the marked ones need', async () => {
    const shown = await view({ 'a!': words(300), c: words(3_000), i: words(3_000) }, 1_000);
    expect(shown.context['a!']).toEqual(words(300));
    expect(shown.tokens).toBeLessThanOrEqual(1_000);
    expect(tokensOf(shown, 'IMPORTANT')).toBeGreaterThan(100);
  });

  it('cuts where values end, and says what is missing', async () => {
    const list = Array.from({ length: 100 }, (_, n) => `a text that is not cut, number ${n}`);
    const { context, keys } = await view({ i: list }, 300);
    const shown = context['i'] as string[];
    const kept = shown.slice(0, -1);
    expect(kept).toEqual(list.slice(0, kept.length));
    expect(kept.length).toBeGreaterThan(5);
    expect(shown.at(-1)).toBe(`[${100 - kept.length} more items left out]`);
    expect(keys[0]).toMatchObject({ shown: 'cut', leftOut: 100 - kept.length });
  });

  it('keeps the beginning and the end of a text, in all the room that there is', async () => {
    const text = words(500).join(' ');
    const { context, keys, tokens } = await view({ i: text, u: 'short' }, 100);
    expect(context['u']).toBe('short');
    expect(context['i']).toMatch(/^\w.* \[\d+ characters left out\] .*\w$/);
    expect(keys[0]).toMatchObject({ shown: 'cut' });
    expect(tokens).toBeLessThanOrEqual(100);
    expect(tokens).toBeGreaterThan(75);
  });

  it('stays within its budget, keeps the order, changes nothing and invents no key, whatever the context is', async () => {
    const entry = fc.tuple(fc.constantFrom('c', 'i', 'u', 'e'), fc.nat(99), fc.nat(300));
    const large = fc
      .array(entry, { maxLength: 12 })
      .map((entries) =>
        Object.fromEntries(entries.map(([layer, n, length]) => [`${layer}${n}`, words(length)])),
      );
    const context = fc.oneof(
      anyContext(),
      large,
      fc.tuple(anyContext(), large).map(([a, b]) => ({ ...a, i: [b], ...b })),
    );
    const budget = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 1_500 }));
    await fc.assert(
      fc.asyncProperty(context, budget, async (given: JsonObject, tokens) => {
        const text = JSON.stringify(given);
        const unmarked = verdictsOf(given).map((verdict) => ({ ...verdict, marked: false }));
        const shown = await viewContext(given, unmarked, tokens, DEFAULT_BUDGETS);
        expect(JSON.stringify(given)).toBe(text);
        expect(shown.tokens).toBe(count(JSON.stringify(shown.context)));
        expect(shown.tokens).toBeLessThanOrEqual(Math.max(tokens, 1));
        const order = Object.keys(given);
        const keys = Object.keys(shown.context);
        expect(keys).toEqual(order.filter((key) => keys.includes(key)));
        for (const { key, shown: how } of shown.keys) {
          expect(Object.hasOwn(shown.context, key)).toBe(how !== 'left out');
          if (how === 'whole') expect(shown.context[key]).toBe(given[key]);
        }
      }),
      runParameters('context views', 120),
    );
  });

  it('shows the more important parts of a layer first', async () => {
    const context = { goal: words(150), 'goal and decision': words(150) };
    const verdicts = classify(context, rules);
    const shown = await viewContext(context, verdicts, 190, DEFAULT_BUDGETS);
    expect(shown.keys.map(({ shown: how }) => how)).toEqual(['cut', 'whole']);
  });
});

describe('the view of a checkpoint', () => {
  it('leaves the checkpoint as it is, and uses the budgets of the rules', async () => {
    const place = await Place.make();
    const service = place.service();
    const context = { goal: words(400), logs: words(400) };
    await service.save({ sessionId: 's', context });
    const usual = await service.view({ sessionId: 's', budget: 300 });
    expect(tokensOf(usual, 'CRITICAL')).toBeGreaterThan(tokensOf(usual, 'EPHEMERAL'));
    const { patterns } = DEFAULT_RULES;
    await place.configure('classification', { patterns, budgets: { CRITICAL: 0, EPHEMERAL: 100 } });
    const other = await service.view({ checkpointId: 's@1', budget: 300 });
    expect(tokensOf(other, 'CRITICAL')).toBeLessThan(tokensOf(other, 'EPHEMERAL'));
    expect((await service.load({ sessionId: 's' })).context).toEqual(context);
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'is refused for a budget of %s',
    async (budget) => {
      const service = (await Place.make()).service();
      await service.save({ sessionId: 's', context: {} });
      expect((await errorOf(service.view({ sessionId: 's', budget }))).code).toBe('INVALID_ARGUMENT');
    },
  );
});
