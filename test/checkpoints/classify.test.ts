import { describe, expect, it } from 'vitest';
import { byLayer, classify } from '../../src/checkpoints/classify/classify.js';
import {
  type ClassificationRules,
  type ContextLayer,
  compileRules,
  DEFAULT_BUDGETS,
  DEFAULT_RULES,
} from '../../src/checkpoints/classify/rules.js';
import { errorOf, noise, Place } from './checkpoint-kit.js';

const rules = await compileRules(DEFAULT_RULES);
const layerOf = (key: string, value: string | number = 1): ContextLayer =>
  classify({ [key]: value }, rules)[0]!.layer;

function rule(pattern: string, priority = 10): { type: 'key_regex'; pattern: string; priority: number } {
  return { type: 'key_regex', pattern, priority };
}

describe('the built-in rules', () => {
  it.each([
    ['temperature'],
    ['dialog'],
    ['catalog'],
    ['login'],
    ['blog'],
    ['template'],
    ['attempts'],
    ['contemporary'],
    ['loginCount'],
    ['blogPosts'],
    ['maxAttempts'],
    ['emailTemplate'],
  ])('take %s for neither temporary nor a log', (key) => {
    expect(layerOf(key)).toBe('USEFUL');
  });

  it.each<[string, ContextLayer]>([
    ['tmp', 'EPHEMERAL'],
    ['temp_dir', 'EPHEMERAL'],
    ['userTempPath', 'EPHEMERAL'],
    ['DEBUG', 'EPHEMERAL'],
    ['debugLog', 'EPHEMERAL'],
    ['build.logs', 'EPHEMERAL'],
    ['userGoal', 'CRITICAL'],
    ['user-goal', 'CRITICAL'],
    ['USER_GOAL', 'CRITICAL'],
    ['currentTask', 'CRITICAL'],
    ['chatHistory', 'IMPORTANT'],
    ['nextSteps', 'IMPORTANT'],
    ['notes', 'USEFUL'],
    ['', 'USEFUL'],
    ['__proto__', 'USEFUL'],
  ])('know the words of %s, however it is spelt: %s', (key, layer) => {
    expect(classify(JSON.parse(JSON.stringify({ [key]: 1 })), rules)[0]).toMatchObject({ key, layer });
  });

  it('look into the contents, unless they are told not to', () => {
    const context = { remark: ['x', { y: 'You must never delete that.' }] };
    expect(classify(context, rules)[0]!.layer).toBe('CRITICAL');
    expect(classify(context, rules, { heuristics: false })[0]!.layer).toBe('USEFUL');
  });
});

describe('the layer of a key', () => {
  it('is that whose weights are the most together', async () => {
    const own = await compileRules({
      patterns: { IMPORTANT: [rule('a', 5)], EPHEMERAL: [rule('a', 3), rule('b', 3)] },
    });
    expect(classify({ ab: 1, a: 1, c: 1 }, own)).toEqual([
      { key: 'ab', layer: 'EPHEMERAL', score: 6, marked: false },
      { key: 'a', layer: 'IMPORTANT', score: 5, marked: false },
      { key: 'c', layer: 'USEFUL', score: 0, marked: false },
    ]);
  });

  it('is the more important one of two that weigh the same', async () => {
    const own = await compileRules({
      patterns: { EPHEMERAL: [rule('x')], USEFUL: [rule('x')], IMPORTANT: [rule('x', 4), rule('x', 6)] },
    });
    expect(classify({ x: 1 }, own)[0]).toMatchObject({ layer: 'IMPORTANT', score: 10 });
  });

  it('is critical when somebody said so, whatever the rules say; each key is in one layer, as it is', () => {
    const context = { tmp: { a: 1 }, goal: [1], other: null };
    const layers = byLayer(context, classify(context, rules, { marks: new Set(['tmp']) }));
    expect(layers).toEqual({
      CRITICAL: { tmp: { a: 1 }, goal: [1] },
      IMPORTANT: {},
      USEFUL: { other: null },
      EPHEMERAL: {},
    });
    expect(layers.CRITICAL['tmp']).toBe(context.tmp);
  });
});

describe('rules of a user', () => {
  it('count at once when their file is made, changed or taken away', async () => {
    const place = await Place.make();
    const service = place.service();
    await service.save({ sessionId: 's', context: { zebra: 1 } });
    const layer = async () => (await service.view({ sessionId: 's', budget: 100 })).keys[0]!.layer;
    expect(await layer()).toBe('USEFUL');
    await place.configure('classification', { patterns: { CRITICAL: [rule('zebra')] } });
    expect(await layer()).toBe('CRITICAL');
    await place.configure('classification', { patterns: { EPHEMERAL: [rule('zebra')] } });
    expect(await layer()).toBe('EPHEMERAL');
    const { metadata } = await service.save({ sessionId: 's', context: { zebra: 2 } });
    expect(metadata.classificationSummary).toEqual({ EPHEMERAL: { keys: 1, bytes: 1 } });
  });

  it('may be in another file', async () => {
    const place = await Place.make();
    await place.configure('classification', { patterns: { CRITICAL: [rule('zebra')] } });
    const other = await Place.make();
    const rulesPath = place.file('config', 'classification.json');
    const service = other.service({ config: { classification: { rulesPath } } });
    await service.save({ sessionId: 's', context: { zebra: 1 } });
    expect((await service.view({ sessionId: 's', budget: 100 })).keys[0]!.layer).toBe('CRITICAL');
  });

  it('that are broken are an error with its line for a view, and a warning for a save', async () => {
    const place = await Place.make();
    await place.configure('classification', '{\n  "patterns": {\n    "CRITICAL": [oops]\n  }\n}\n');
    const service = place.service();
    const saved = await service.save({ sessionId: 's', context: { a: 1 } });
    expect(saved).toMatchObject({ status: 'SAVED', metadata: { classificationSummary: null } });
    expect(saved.warnings).toEqual([expect.stringContaining('line 3')]);
    const error = await errorOf(service.view({ sessionId: 's', budget: 100 }));
    expect(error).toMatchObject({ code: 'DOCUMENT_DAMAGED', details: { line: 3 } });
    expect((await service.load({ sessionId: 's' })).context).toEqual({ a: 1 });
    await place.configure('classification', { patterns: {} });
    expect((await service.view({ sessionId: 's', budget: 100 })).context).toEqual({ a: 1 });
  });

  it.each<[string, unknown]>([
    ['an unknown layer', { patterns: { VITAL: [] } }],
    ['a rule without a weight', { patterns: { CRITICAL: [{ type: 'key_regex', pattern: 'a' }] } }],
    ['a weight of zero', { patterns: { CRITICAL: [rule('a', 0)] } }],
    ['a pattern that is too long', { patterns: { CRITICAL: [rule('a'.repeat(513))] } }],
    ['no patterns', {}],
    ['a list', []],
  ])('are refused where they have %s', async (_, content) => {
    const place = await Place.make();
    await place.configure('classification', content);
    const service = place.service();
    expect((await service.save({ sessionId: 's', context: {} })).warnings).toHaveLength(1);
    expect((await errorOf(service.view({ sessionId: 's', budget: 9 }))).code).toBe('DOCUMENT_DAMAGED');
  });

  it.each([
    ['(?=a)b'],
    ['(?!a)b'],
    ['(?<=a)b'],
    ['(?<!a)b'],
    ['(a)\\1'],
    ['(?<n>a)\\k<n>'],
    ['a{1001}'],
    ['a{1000}b{1000}'],
    ['((a{30}){30}){30}'],
    ['(a{1,40}){1,40}'],
    ['('],
    ['[z-a]'],
    ['*'],
  ])('may not have the pattern %s', async (pattern) => {
    const error = await errorOf(compileRules({ patterns: { USEFUL: [rule(pattern)] } }));
    expect(error).toMatchObject({ code: 'RULES_INVALID', details: { layer: 'USEFUL', pattern } });
    const place = await Place.make();
    await place.configure('classification', { patterns: { USEFUL: [rule(pattern)] } });
    const service = place.service();
    const saved = await service.save({ sessionId: 's', context: { a: 1 } });
    expect([saved.status, saved.warnings.length]).toEqual(['SAVED', 1]);
    expect((await errorOf(service.view({ sessionId: 's', budget: 9 }))).code).toBe('RULES_INVALID');
  });

  it.each([['(a+)+$'], ['(a|a)*$'], ['(a|aa)+$'], ['(.*a){12}$'], ['([a-z]+)*[A-Z]$'], ['^(\\w+\\s?)*$']])(
    'answer within a moment for hostile text: %s',
    async (pattern) => {
      const patterns: ClassificationRules['patterns'] = {
        USEFUL: [{ type: 'content_heuristic', pattern, priority: 1 }, rule(pattern)],
      };
      const own = await compileRules({ patterns });
      const hostile = { [`${'a'.repeat(5_000)}!`]: `${'a'.repeat(50_000)}!` };
      classify({ warm: 'up' }, own);
      const start = process.cpuUsage();
      classify(hostile, own);
      const { user, system } = process.cpuUsage(start);
      expect((user + system) / 1_000).toBeLessThan(100);
    },
  );
});

describe('budgets', () => {
  it('are 30, 40, 20 and 10 percent, and those that are given otherwise', async () => {
    expect(DEFAULT_BUDGETS).toEqual({ CRITICAL: 30, IMPORTANT: 40, USEFUL: 20, EPHEMERAL: 10 });
    expect((await compileRules({ patterns: {} })).budgets).toEqual(DEFAULT_BUDGETS);
    const { budgets } = await compileRules({ patterns: {}, budgets: { CRITICAL: 100 } });
    expect(budgets).toEqual({ CRITICAL: 100, IMPORTANT: 0, USEFUL: 0, EPHEMERAL: 0 });
  });

  it('above 100 percent together are refused', async () => {
    const budgets = { CRITICAL: 60, IMPORTANT: 41 };
    const error = await errorOf(compileRules({ patterns: {}, budgets }));
    expect(error).toMatchObject({ code: 'RULES_INVALID', details: { sum: 101 } });
  });
});

describe('a large context', () => {
  it('is classified in little time', () => {
    const context = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, n) => [`key ${n}`, noise(n, 50).repeat(40)]),
    );
    expect(classify(context, rules)).toHaveLength(2_000);
  });
});
