/** Parts of answers: written ahead, kept by a restore, redacted, removed when they are old. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { restoreAgent } from '../../../src/agent/factory/agent-factory.js';
import type { ModelRequest } from '../../../src/agent/model/language-model.js';
import { ScriptedModel } from '../../../src/agent/model/scripted-model.js';
import { openMemory } from '../../../src/memory/open-memory.js';
import { isBlankText, textOf } from '../../../src/messages/message.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { withRedaction } from '../../../src/storage/redacted-storage.js';
import { SeededRandom } from '../../../src/storage/simulated/seeded-random.js';
import { agentFixture, callsWork, outline, storageAfterKill, tool } from '../../agent/agent-fixture.js';

const SEED = Number(process.env['REKINDLE_SEED'] ?? Date.now() % 2 ** 31);

describe('an answer that somebody reads while it is written', () => {
  it('is written in parts before it is delivered, under the id of its message', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'One two three.', reasoning: 'I count.' }]);
    const delivered: string[] = [];
    for await (const event of agent.stream('count')) {
      if (event.type !== 'text_delta') continue;
      delivered.push(event.delta);
      const stored = (await fixture.rows('answer_parts')).map((row) => row['text'] ?? '').join('');
      expect(stored.startsWith(delivered.join(''))).toBe(true);
    }
    const rows = await fixture.rows('answer_parts');
    const messageId = agent.messages.at(-1)!.messageId;
    expect(new Set(rows.map((row) => row['message_id']))).toEqual(new Set([messageId]));
    expect(rows.map((row) => row['reasoning'] ?? '').join('')).toBe('I count.');
    expect(delivered.join('')).toBe('One two three.');
  });

  it('is not heard by a listener that is added in its middle, which hears the next one', async () => {
    const fixture = await agentFixture();
    const heard: string[] = [];
    const agent = await fixture.started([
      () => {
        setTimeout(() => agent.events.on('text_delta', ({ delta }) => heard.push(delta)), 20);
        return { text: 'a b c d e f g h i j', wordMs: 8 };
      },
      { text: 'Heard.' },
    ]);
    await agent.send('one');
    expect(heard).toEqual([]);
    await agent.send('two');
    expect(heard.join('')).toBe('Heard.');
  });

  it('has no parts if nobody listens', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'Hello.' }]);
    await agent.send('hi');
    expect(await fixture.rows('answer_parts')).toEqual([]);
  });

  it('is recorded once when it is whole, and a restore adds nothing', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([callsWork({ n: 1 }), { text: 'Done.' }], {
      tools: [tool({ execute: async () => 'ok' })],
    });
    agent.events.on('text_delta', () => {});
    await agent.send('go');
    const before = outline(agent.messages);
    await agent.stop();
    const next = fixture.restored([]);
    await next.start();
    expect(outline(next.messages)).toEqual(before);
    expect(next.restoreReport).toMatchObject({ cutOffAnswers: [], repairs: [] });
  });

  it('stays in the context when the model fails after the last attempt, and can be continued', async () => {
    const fixture = await agentFixture();
    const requests: string[] = [];
    const agent = await fixture.started(
      [
        { text: 'It was a', fails: new Error('overloaded') },
        (request) => {
          requests.push(...outline(request.messages));
          return { text: 'dark night.' };
        },
      ],
      { retry: { retriesMax: 0 } },
    );
    agent.events.on('text_delta', () => {});
    await expect(agent.send('tell')).rejects.toMatchObject({ code: 'MODEL_FAILED' });
    expect(agent.messages.at(-1)).toMatchObject({ content: 'It was a', status: 'failed' });
    await agent.resume();
    expect(requests).toEqual(['user: tell', 'assistant: It was a']);
  });

  it('that was discarded for another attempt is not kept by a restore', async () => {
    const fixture = await agentFixture();
    const agent = await fixture.started([
      { text: 'Wrong start', fails: new Error('overloaded') },
      { text: 'word '.repeat(500), wordMs: 5 },
    ]);
    let retried = false;
    for await (const event of agent.stream('tell')) {
      if (event.type === 'model_retry') retried = true;
      if (!retried || event.type !== 'text_delta') continue;
      const next = restoreAgent('ada', {
        storage: storageAfterKill(fixture.dir),
        model: new ScriptedModel([]),
      });
      await next.start();
      expect(textOf(next.messages.at(-1)!)).toMatch(/^(word )+$/);
      await next.stop();
      break;
    }
    expect(retried).toBe(true);
  });

  it('is kept once, also if the restore is repeated', async () => {
    expect.hasAssertions(); // they are at the first word
    const fixture = await agentFixture();
    const agent = await fixture.started([{ text: 'word '.repeat(500), wordMs: 5 }]);
    for await (const event of agent.stream('tell')) {
      if (event.type !== 'text_delta') continue;
      for (const cutOff of [1, 0]) {
        const next = restoreAgent('ada', {
          storage: storageAfterKill(fixture.dir),
          model: new ScriptedModel([]),
        });
        await next.start();
        expect(next.restoreReport!.cutOffAnswers).toHaveLength(cutOff);
        expect(outline(next.messages)).toHaveLength(2);
        await next.stop();
      }
      break;
    }
  });

  it(`is restored as far as it was delivered, at every moment of random turns (seed ${SEED})`, async () => {
    const random = new SeededRandom(SEED);
    for (let run = 0; run < 12; run += 1) {
      const fixture = await agentFixture();
      const steps = Array.from({ length: 1 + random.below(3) }, (_, step) => ({
        text: Array.from({ length: random.below(30) }, (_, word) => `s${step}w${word} `).join(''),
        wordMs: random.below(8),
        calls: [{ name: 'work', arguments: { step } }],
      }));
      const script = [...steps, { text: 'The end is here.', wordMs: 4 }];
      const agent = await fixture.started(script, { tools: [tool({ execute: async () => 'ok' })] });
      const moment = random.below(script.flatMap(({ text }) => text.match(/\S+/g) ?? []).length);
      const answers = [''];
      let heard = 0;
      for await (const event of agent.stream('go')) {
        if (event.type === 'tool_call') answers.push('');
        if (event.type !== 'text_delta') continue;
        answers[answers.length - 1] += event.delta;
        heard += 1;
        if (heard <= moment) continue;
        const storage = storageAfterKill(fixture.dir);
        const next = restoreAgent('ada', { storage, model: new ScriptedModel([]) });
        await next.start();
        const kept = next.messages
          .filter((message) => message.role === 'assistant' && !isBlankText(textOf(message)))
          .map(textOf);
        const said = answers.filter((text) => !isBlankText(text));
        expect(kept.slice(0, said.length - 1)).toEqual(said.slice(0, -1));
        expect(kept[said.length - 1]).toMatch(new RegExp(`^${said.at(-1)}`));
        await next.stop();
        break;
      }
      expect(heard).toBe(moment + 1);
    }
  });

  it('is stored without its secrets, also where a secret arrives in pieces', async () => {
    const fixture = await agentFixture();
    const secret = `sk-ant-api03-${'Zk3'.repeat(30)}`;
    const keyLine = 'MIIEpAIBAAKCAQEAq7x';
    const lines = [
      ...[
        `The key is ${secret} and\n`,
        'the password: hunter2hunter2\n',
        '-----BEGIN RSA PRIVATE KEY-----\n',
      ],
      ...[`${keyLine}\n`, `${keyLine}\n`, '-----END RSA PRIVATE KEY-----\n', 'and so on.\n'],
    ];
    const model = {
      origin: { provider: 'scripted' },
      async *stream({ signal }: ModelRequest) {
        for (const line of lines) {
          for (const delta of line.match(/[\s\S]{1,7}/g) ?? []) yield { type: 'text' as const, delta };
          await sleep(30);
        }
        if (!signal.aborted) await once(signal, 'abort');
      },
    };
    const storage = withRedaction(storageAfterKill(fixture.dir), { credentials: true });
    const agent = fixture.created([], { model, storage });
    await agent.start();
    let read = '';
    agent.events.on('text_delta', ({ delta }) => {
      read += delta;
    });
    void agent.send('tell').catch(() => {});
    await expect.poll(() => read, { timeout: 10_000 }).toContain('so on.\n');
    const rows = await fixture.rows('answer_parts');
    expect(rows.length).toBeGreaterThan(3);
    const stored = rows.map((row) => row['text']).join('');
    expect(stored).not.toContain(keyLine);
    expect(stored).not.toContain(secret.slice(0, 20));
    expect(stored).not.toContain('hunter2');
    expect(stored).toContain('The key is ');
    expect(stored).toContain(' and\n');
  });

  it('leaves at most 512 parts of older answers behind', async () => {
    const storage = new MemoryStorage();
    const { memory, close } = await openMemory(storage, 'ada', { compaction: null });
    const journal = await memory.store.journal('answer_parts');
    let left = 0;
    for (let answer = 0; answer < 30; answer += 1) {
      const writer = memory.answerParts.begin(`turn_${answer}`, null);
      for (let part = 0; part < 100; part += 1) await writer.write({ text: 'word ' });
      await memory.answerParts.removeOld();
      left = 0;
      for await (const _ of journal.read()) left += 1;
      expect(left).toBeLessThan(612);
    }
    expect((await journal.head()).seq).toBe(3_000);
    await close();
  });
});
