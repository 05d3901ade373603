/** What a provider made of the conversation itself stands for it in requests to that provider, and in no others. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import type { Message, Origin } from '../../../src/messages/message.js';
import { checkRequest, project } from '../../../src/messages/projections/project.js';
import { TARGETS, type TargetName } from '../../../src/messages/projections/targets.js';
import { assistant, user } from '../arbitraries.js';
import { CLAUDE, callOf, callsOf, codesOf, GPT, resultOf, targetOf } from './projection-kit.js';

const MADE: readonly { target: TargetName; origin: Origin; item: JsonObject }[] = [
  { target: 'anthropic', origin: CLAUDE, item: { type: 'compaction', content: 'They spoke of ships.' } },
  {
    target: 'openai-responses',
    origin: GPT,
    item: { type: 'compaction', id: 'cmp_1', encrypted_content: 'c2VhbGVk' },
  },
];

const listWith = (origin: Origin, item: JsonObject): Message[] => [
  { role: 'system', content: 'Be kind.' },
  user('the old request'),
  callsOf([callOf('old')]),
  resultOf('old', 'the old result'),
  { ...assistant('the first words after'), origin, providerItems: [{ origin, item }] },
  user('the new request'),
];

describe.each(MADE)('a compaction of $target', ({ target, origin, item }) => {
  const list = listWith(origin, item);

  it('goes back to the model that made it, in place of what lies before it', () => {
    const made = project(target, list, targetOf(origin));
    expect(checkRequest(target, made.request)).toStrictEqual([]);
    const json = JSON.stringify(made.request);
    expect(json).not.toContain('old');
    for (const text of [JSON.stringify(item), 'the first words after', 'the new request', 'Be kind.']) {
      expect(json).toContain(text);
    }
    expect(json.indexOf('"compaction"')).toBeLessThan(json.indexOf('the first words after'));
    expect(codesOf(made)).toStrictEqual(['message-omitted']);
  });

  it('stands for what lies before it when it is alone in its message', () => {
    const alone = list.map((message) => (message.providerItems ? { ...message, content: null } : message));
    const { request } = project(target, alone, targetOf(origin));
    expect(checkRequest(target, request)).toStrictEqual([]);
    expect(JSON.stringify(request)).toContain(JSON.stringify(item));
    expect(JSON.stringify(request)).not.toContain('old');
  });

  it('gives way to a newer one', () => {
    const newer = { ...item, ...(item['content'] ? { content: 'Newer.' } : { id: 'cmp_2' }) };
    const longer = [
      ...list,
      { ...assistant('later'), origin, providerItems: [{ origin, item: newer }] },
      user('last'),
    ];
    const json = JSON.stringify(project(target, longer, targetOf(origin)).request);
    expect(json).toContain(JSON.stringify(newer));
    expect(json).not.toContain(JSON.stringify(item));
    expect(json).not.toContain('the new request');
  });

  it.each(TARGETS.filter((other) => other !== target))(
    'is not sent to %s, which gets the messages',
    (other) => {
      const { request } = project(other, list, { provider: 'another', model: 'other' });
      const json = JSON.stringify(request);
      expect(checkRequest(other, request)).toStrictEqual([]);
      expect(json).not.toContain('compaction');
      for (const text of ['the old request', 'the old result', 'the first words after'])
        expect(json).toContain(text);
    },
  );

  it.each([
    ['of another model of the provider', { provider: origin.provider, model: 'another' }, item],
    ['that failed', targetOf(origin), { ...item, content: null, encrypted_content: null }],
  ])('%s is left out, and the messages stay', (_, to, given) => {
    const { request } = project(target, listWith(origin, given as JsonObject), to);
    expect(JSON.stringify(request)).not.toContain('"compaction"');
    expect(JSON.stringify(request)).toContain('the old result');
  });
});
