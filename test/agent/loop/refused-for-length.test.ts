/** A provider that takes less than the agent thinks: the size is learned, and the turn goes on. */
import { describe, expect, it } from 'vitest';
import type { LanguageModel, ModelRequest } from '../../../src/agent/model/language-model.js';
import { isRekindleError } from '../../../src/core/errors.js';
import { agentFixture } from '../agent-fixture.js';

const CHARS_A_TOKEN = 4;
const tokensOf = ({ messages }: ModelRequest) => Math.ceil(JSON.stringify(messages).length / CHARS_A_TOKEN);

/** A model that counts by characters, and refuses what is over its limit. */
function strictModel(limit: number) {
  const seen: { tokens: number; refused: boolean }[] = [];
  const model: LanguageModel = {
    origin: { provider: 'strict', model: 'strict-1' },
    async *stream(request) {
      const tokens = tokensOf(request);
      seen.push({ tokens, refused: tokens > limit });
      if (tokens > limit) throw new Error(`prompt is too long: ${tokens} tokens > ${limit} maximum`);
      yield { type: 'text', delta: `Answer ${seen.length}.` };
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: tokens } };
    },
  };
  return { model, seen };
}

const words = (count: number) => Array.from({ length: count }, (_, n) => `word${n}`).join(' ');

describe('an agent whose model takes less than it thinks', () => {
  it('asks once more with a smaller context, and keeps to the size from then on', async () => {
    const fixture = await agentFixture();
    const { model, seen } = strictModel(4_000);
    const agent = await fixture.started([], { model });
    for (let turn = 1; turn <= 12; turn += 1)
      expect(await agent.send(`Turn ${turn}: ${words(300)}`)).toMatchObject({ status: 'completed' });
    expect(seen.filter(({ refused }) => refused)).toHaveLength(1);
    expect(seen).toHaveLength(13);
  });

  it('knows the size in the next process', async () => {
    const fixture = await agentFixture();
    const { model } = strictModel(4_000);
    const agent = await fixture.started([], { model });
    for (let turn = 1; turn <= 8; turn += 1) await agent.send(`Turn ${turn}: ${words(300)}`);
    await agent.stop();
    const next = strictModel(4_000);
    const again = fixture.restored([], { model: next.model });
    await again.start();
    for (let turn = 1; turn <= 8; turn += 1) await again.send(`More ${turn}: ${words(300)}`);
    expect(next.seen.filter(({ refused }) => refused)).toEqual([]);
  });

  it('fails, and asks no third time, when the input alone is too large', async () => {
    const fixture = await agentFixture();
    const { model, seen } = strictModel(1_000);
    const agent = await fixture.started([], { model });
    const failure = await agent.send(words(3_000)).catch((thrown: unknown) => thrown);
    expect(isRekindleError(failure, 'CONTEXT_TOO_LARGE')).toBe(true);
    expect(seen).toHaveLength(1);
    expect(agent.messages.at(-1)).toMatchObject({ role: 'user' });
  });

  it('answers a shorter input after one that was too large, also in the next process', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([], { model: strictModel(1_000).model });
    await agent.send(words(3_000)).catch(() => {});
    expect(await agent.send('Short.')).toMatchObject({ status: 'completed' });
    await agent.send(words(3_000)).catch(() => {});
    await agent.stop();
    const again = fixture.restored([], { model: strictModel(1_000).model });
    await again.start();
    expect(await again.send('Short, too.')).toMatchObject({ status: 'completed' });
  });
});
