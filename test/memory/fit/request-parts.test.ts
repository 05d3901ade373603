import { describe, expect, it } from 'vitest';
import { O200kTokenCounter } from '../../../src/memory/compaction/token-counter.js';
import { requestParts } from '../../../src/memory/fit/request-parts.js';
import type { Message } from '../../../src/messages/message.js';
import { assistant, calls, result, user } from '../../messages/arbitraries.js';

const THOUGHTS: Message = {
  ...assistant('Yes.'),
  reasoning: [{ text: 'I think of it. '.repeat(40), signature: 'c2ln' }],
};
const LIST: Message[] = [
  { role: 'system', content: 'Be kind.' },
  { role: 'user', kind: 'memory', content: 'Once upon a time.' },
  user('Look.'),
  calls('a'),
  result('a', 'It is there.'),
  THOUGHTS,
  {
    ...user('See.'),
    parts: [{ type: 'media', media: { kind: 'image', mime: 'image/png', ref: 'https://x.y/z.png' } }],
  },
];

describe('the parts of a request', () => {
  it('are together the tokens of its messages and its tools', async () => {
    const counter = new O200kTokenCounter();
    const parts = await requestParts(LIST, 100, counter);
    const sum = Object.values(parts).reduce((total, tokens) => total + tokens, 0);
    expect(sum).toBe((await counter.countMessages(LIST)) + 100);
    for (const tokens of Object.values(parts)) expect(tokens).toBeGreaterThan(0);
  });

  it('have the reasoning beside the answer that it belongs to', async () => {
    const counter = new O200kTokenCounter();
    const { reasoning, answers } = await requestParts(LIST, 0, counter);
    expect(answers).toBe(await counter.countMessages([assistant('Yes.')]));
    expect(reasoning).toBe((await counter.countMessages([THOUGHTS])) - answers);
  });
});
