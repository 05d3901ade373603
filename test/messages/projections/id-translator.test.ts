import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/messages/message.js';
import { projectAnthropic } from '../../../src/messages/projections/anthropic.js';
import { IdTranslator, NameTranslator } from '../../../src/messages/projections/id-translator.js';
import { limitsFor } from '../../../src/messages/projections/target-limits.js';
import { TARGETS } from '../../../src/messages/projections/targets.js';
import { runParameters } from '../../property/seed.js';

const RULES = {
  ...Object.fromEntries(TARGETS.map((target) => [target, limitsFor(target).callId])),
  mistral: limitsFor('openai-chat', 'mistral').callId,
};
const cases = Object.entries(RULES).map(([name, rule]) => ({ name, rule }));

/** Ids as providers and their imitators make them, many of which become the same when they are cleaned or cut. */
const id = fc.oneof(
  fc.string({ minLength: 1, maxLength: 5 }),
  fc.string({ unit: fc.constantFrom('a', '|', ' ', '_'), minLength: 1, maxLength: 6 }),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('0', '1'), minLength: 9, maxLength: 9 }),
  fc.nat({ max: 30 }).map((tail) => `call_${'A'.repeat(60)}${tail}`),
  fc.nat({ max: 3 }).map((tail) => `call_${tail}|fc_${'x'.repeat(450)}`),
  fc.uuid(),
);
const batch = fc.uniqueArray(id, { minLength: 1, maxLength: 6 });
const batches = fc.array(batch, { minLength: 1, maxLength: 6 });

describe.each(cases)('call ids for $name', ({ name, rule }) => {
  it('stay distinct, and within what the target takes, whatever they are', () => {
    fc.assert(
      fc.property(batches, (list) => {
        const translator = new IdTranslator(rule);
        const translated = list.map((ids) => translator.openBatch(ids));
        for (const ids of translated) expect(new Set(ids).size).toBe(ids.length);
        const all = translated.flat();
        if (rule.unique) expect(new Set(all).size).toBe(all.length);
        for (const one of all) {
          expect(one).toMatch(rule.pattern);
          expect(one.length).toBeLessThanOrEqual(rule.max);
          if (rule.exact) expect(one).toHaveLength(rule.max);
        }
      }),
      runParameters(`ids for ${name}, distinct`, 400),
    );
  });

  it('lead back to the stored ones', () => {
    fc.assert(
      fc.property(batches, (list) => {
        const translator = new IdTranslator(rule);
        const translated = list.map((ids) => translator.openBatch(ids));
        const back = translated.map((ids) => ids.map((one) => translator.originals.get(one) ?? one));
        expect(back).toStrictEqual(list);
      }),
      runParameters(`ids for ${name}, back`, 400),
    );
  });

  it('are the same when the list goes on', () => {
    fc.assert(
      fc.property(batches, batches, (list, more) => {
        const shorter = new IdTranslator(rule);
        const longer = new IdTranslator(rule);
        const before = list.map((ids) => shorter.openBatch(ids));
        expect([...list, ...more].map((ids) => longer.openBatch(ids)).slice(0, list.length)).toStrictEqual(
          before,
        );
      }),
      runParameters(`ids for ${name}, stable`, 200),
    );
  });

  it('are those of the results of their batch, also when an earlier batch used the same', () => {
    const translator = new IdTranslator(rule);
    for (const ids of [['call_0', 'a|b'], ['a|b'], ['call_0']]) {
      const translated = translator.openBatch(ids);
      expect(ids.map((one) => translator.ofResult(one))).toStrictEqual(translated);
    }
  });

  it('that look like a translated one do not take its place', () => {
    const long = 'x y'.repeat(200);
    const [taken] = new IdTranslator(rule).openBatch([long]);
    for (const ids of [
      [long, taken!],
      [taken!, long],
    ]) {
      const translator = new IdTranslator(rule);
      const translated = translator.openBatch(ids);
      expect(new Set(translated).size).toBe(2);
      expect(translated.map((one) => translator.originals.get(one) ?? one)).toStrictEqual(ids);
    }
  });
});

describe('call ids', () => {
  it('that a target takes stay as they are', () => {
    const translator = new IdTranslator(limitsFor('openai-chat').callId);
    const longest = 'a'.repeat(40);
    expect(translator.openBatch(['call_A|fc.1', longest])).toStrictEqual(['call_A|fc.1', longest]);
    expect(translator.originals.size).toBe(0);
  });

  it('are translated from one character too many on', () => {
    const [long] = new IdTranslator(limitsFor('openai-chat').callId).openBatch(['a'.repeat(41)]);
    expect(long).toHaveLength(40);
    const [longer] = new IdTranslator(limitsFor('anthropic').callId).openBatch(['a'.repeat(65)]);
    expect(longer).toHaveLength(64);
  });

  it('keep their first use where a target wants them to be unique', () => {
    const translator = new IdTranslator(limitsFor('anthropic').callId);
    const [[first], [second]] = [translator.openBatch(['call_0']), translator.openBatch(['call_0'])];
    expect(first).toBe('call_0');
    expect(second).toMatch(/^call_0_[0-9a-f]{8}$/);
  });

  it('come again as they are where a target allows it', () => {
    const translator = new IdTranslator(limitsFor('openai-chat').callId);
    expect([translator.openBatch(['call_0']), translator.openBatch(['call_0'])]).toStrictEqual([
      ['call_0'],
      ['call_0'],
    ]);
  });

  it('keep to a limit that is shorter than what distinguishes them otherwise', () => {
    const rule = { pattern: /^[a-z0-9]+$/, max: 6, unique: true };
    const translated = new IdTranslator(rule).openBatch(['much too long', 'longer than that']);
    expect(translated.map((one) => one.length)).toStrictEqual([6, 6]);
  });
});

describe.each(TARGETS)('tool names for %s', (target) => {
  const rule = limitsFor(target).toolName;

  it('stay distinct, and within what the target takes, whatever they are', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.oneof(id, fc.constant('')), { maxLength: 12 }), (names) => {
        const translator = new NameTranslator(rule);
        const translated = names.map((one) => translator.of(one));
        expect(new Set(translated).size).toBe(names.length);
        for (const one of translated) {
          expect(one).toMatch(rule.pattern);
          expect(one.length).toBeLessThanOrEqual(rule.max);
        }
        expect(names.map((one) => translator.of(one))).toStrictEqual(translated);
      }),
      runParameters(`tool names for ${target}`, 300),
    );
  });

  it('that look like a translated one do not take its place', () => {
    const taken = new NameTranslator(rule).of('files/list all');
    const translator = new NameTranslator(rule);
    expect(translator.of('files/list all')).toBe(taken);
    expect(translator.of(taken)).not.toBe(taken);
  });
});

describe('the names of a projection', () => {
  it('lead back from a translated name to the tool, for the calls of the answer', () => {
    const messages: Message[] = [
      { role: 'user', content: 'List.' },
      {
        role: 'assistant',
        content: null,
        toolPayload: { toolCalls: [{ id: 'a', name: 'files/list all', arguments: {} }] },
      },
      {
        role: 'tool',
        content: null,
        toolPayload: { toolCallId: 'a', toolName: 'files/list all', toolResult: 1, toolError: null },
      },
    ];
    const { toolNames } = projectAnthropic(messages);
    expect([...toolNames.values()]).toStrictEqual(['files/list all']);
    expect([...toolNames.keys()][0]).toMatch(/^[A-Za-z0-9_-]{1,128}$/);
  });
});
