import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContextSize } from '../../../src/memory/compaction/context-size.js';
import {
  O200kTokenCounter,
  type TokenCounter,
  tokenBound,
} from '../../../src/memory/compaction/token-counter.js';
import { WorkingContextSnapshot } from '../../../src/memory/working-context-snapshot.js';
import type { Message } from '../../../src/messages/message.js';
import { assistant, calls, message, result, user } from '../../messages/arbitraries.js';
import { runParameters } from '../../property/seed.js';

const counter = new O200kTokenCounter();
const tokens = (...messages: Message[]) => counter.countMessages(messages);

describe('the token counter', () => {
  it('counts with a real tokenizer, and what providers add around a message', async () => {
    expect(await tokens(user('hello world'))).toBe(2 + 4);
    expect(await tokens()).toBe(0);
  });

  it('counts calls, their arguments and results', async () => {
    const plain = await tokens(assistant(''));
    expect(await tokens(calls('a'))).toBeGreaterThan(plain);
    expect(await tokens(result('a', 'word '.repeat(100)))).toBeGreaterThan(100);
  });

  it('counts text that looks like a control token as text', async () => {
    expect(await tokens(user('<|endoftext|><|im_start|>'))).toBeGreaterThan(6);
  });

  it('counts an image as about what a large one costs', async () => {
    const media: Message = {
      role: 'user',
      content: null,
      parts: [{ type: 'media', media: { kind: 'image', ref: 'https://example.com/a.png' } }],
    };
    expect(await tokens(media)).toBe(1_504);
  });

  it('counts a message once: the second time costs no work', async () => {
    const long = Array.from({ length: 200 }, (_, n) => user(`${n} ${'lorem ipsum dolor '.repeat(50)}`));
    const timed = async () => {
      const start = performance.now();
      const sum = await counter.countMessages(long);
      return { sum, ms: performance.now() - start };
    };
    const first = await timed();
    const second = await timed();
    expect(second.sum).toBe(first.sum);
    expect(second.ms).toBeLessThan(first.ms);
  });

  it('is never above the bound by bytes', async () => {
    await fc.assert(
      fc.asyncProperty(message, async (given) => {
        expect(await tokens(given)).toBeLessThanOrEqual(tokenBound(given));
      }),
      runParameters('token-counter', 300),
    );
  });
});

describe('the size of a context', () => {
  function counting(): { counter: TokenCounter; counted: number } {
    const seen = {
      counted: 0,
      counter: {
        countMessages: async (messages: readonly Message[]) => {
          seen.counted += messages.length;
          return messages.length * 10;
        },
      },
    };
    return seen;
  }

  it('is not counted while its bytes stay below the limit', async () => {
    const seen = counting();
    expect(
      await new ContextSize(seen.counter).tokensNear(new WorkingContextSnapshot([user('short')]), 1_000),
    ).toBeNull();
    expect(seen.counted).toBe(0);
  });

  it('is counted by looking only at what is new', async () => {
    const seen = counting();
    const size = new ContextSize(seen.counter);
    const context = new WorkingContextSnapshot([user('1'), user('2')]);
    expect(await size.tokensNear(context, 1)).toBe(20);
    context.appendMessage(user('3'));
    expect(await size.tokensNear(context, 1)).toBe(30);
    expect(seen.counted).toBe(3);
  });

  it('is counted anew when the list became another one', async () => {
    const size = new ContextSize(counting().counter);
    const [one, two, three] = [user('1'), user('2'), user('3')] as const;
    const context = new WorkingContextSnapshot([one, two, three]);
    expect(await size.tokensNear(context, 1)).toBe(30);
    context.replaceAll([three]);
    expect(await size.tokensNear(context, 1)).toBe(10);
    context.replaceAll([one, calls('a'), two, three]);
    expect(await size.tokensNear(context, 1)).toBe(40);
    context.replaceAll([]);
    expect(await size.tokensNear(context, 1)).toBeNull();
  });

  it('is counted from the start when a message in the middle was replaced', async () => {
    const lengthOf = (sum: number, one: Message) => sum + JSON.stringify(one).length;
    const bytes = { countMessages: async (messages: readonly Message[]) => messages.reduce(lengthOf, 0) };
    const [size, fresh] = [new ContextSize(bytes), new ContextSize(bytes)];
    const interrupted = { ...result('a', 'none'), synthetic: true };
    const context = new WorkingContextSnapshot([calls('a'), interrupted, user('and then?')]);
    const before = (await size.tokensNear(context, 1))!;
    const bound = context.messages.reduce((sum, one) => sum + tokenBound(one), 0);
    expect(await size.tokensNear(context, bound + 1)).toBeNull();
    expect(context.placeToolResult(result('a', 'x'.repeat(5_000)))).toBe('replaced');
    const after = await size.tokensNear(context, bound + 1);
    expect(after).toBe(await fresh.tokens(context));
    expect(after).toBeGreaterThan(before + 4_900);
  });
});
