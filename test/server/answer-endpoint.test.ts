/** A streamed answer over HTTP: read from any place, by many, also while it is being written. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ScriptedAnswer } from '../../src/agent/model/scripted-model.js';
import type { JsonObject } from '../../src/core/json.js';
import { type Agent, createAgent, ScriptedModel } from '../../src/index.js';
import { readAnswer } from '../../src/memory/store/read-answer.js';
import { ForwardingJournal } from '../../src/storage/forwarding-journal.js';
import { ForwardingStorage } from '../../src/storage/forwarding-storage.js';
import type { Journal, JournalEntry, JournalOptions, Name, StorageBackend } from '../../src/storage/ports.js';
import { storageAfterKill } from '../agent/agent-fixture.js';
import { folderPrint, type ServerKit, serverKit } from './server-kit.js';

const TEXT = Array.from({ length: 60 }, (_, word) => `word${word} `).join('');

async function withAgent(...script: ScriptedAnswer[]): Promise<{ kit: ServerKit; agent: Agent }> {
  const kit = await serverKit();
  const model = new ScriptedModel(script);
  const agent = createAgent({ agentId: 'ada', memoryDir: kit.dir, model, retry: { firstPauseMs: 1 } });
  await agent.start();
  agent.events.on('text_delta', () => {});
  onTestFinished(() => agent.stop({ graceMs: 0 }));
  return { kit, agent };
}

interface Read {
  text: string;
  next: number;
  state: string;
}

/** Reads on until the answer is over, or until `until` says so. */
async function readOn(
  kit: ServerKit,
  read: Read,
  until: (read: Read) => boolean = () => false,
): Promise<Read> {
  while (read.state !== 'recorded' && read.state !== 'cut_off' && !until(read)) {
    const { json } = await kit.get(`/agents/ada/answer?after=${read.next}&wait_ms=5000`);
    for (const part of json['parts'] as JsonObject[])
      read.text = `${part['discards'] === true ? '' : read.text}${part['text']}`;
    read.next = json['next'] as number;
    read.state = json['state'] as string;
  }
  return read;
}

/** Traces are read when the turn has ended. */
class LateTraces extends ForwardingStorage {
  readonly #turn: Promise<unknown>;

  constructor(inner: StorageBackend, turn: Promise<unknown>) {
    super(inner);
    this.#turn = turn;
  }

  override async openJournal<R extends JsonObject>(
    name: Name,
    options?: JournalOptions,
  ): Promise<Journal<R>> {
    const journal = await this.inner.openJournal<R>(name, options);
    return name.at(-1) === 'raw_traces' ? new LateJournal(journal, this.#turn) : journal;
  }
}

class LateJournal<R extends JsonObject> extends ForwardingJournal<R> {
  readonly #turn: Promise<unknown>;

  constructor(inner: Journal<R>, turn: Promise<unknown>) {
    super(inner);
    this.#turn = turn;
  }

  override async *readBackward(): AsyncGenerator<JournalEntry<R>> {
    await this.#turn;
    yield* this.inner.readBackward();
  }
}

const fresh = (): Read => ({ text: '', next: 0, state: '' });

describe('GET /agents/{id}/answer', () => {
  it('gives every reader the whole answer once, whenever it comes, leaves, and comes back', async () => {
    const { kit, agent } = await withAgent({ text: TEXT, wordMs: 8 });
    const turn = agent.send('tell');
    const readers = Array.from({ length: 5 }, async (_, reader) => {
      await sleep(reader * 90);
      const read = await readOn(kit, fresh(), ({ text }) => text.length > reader * 80);
      await sleep(reader * 30);
      return readOn(kit, read);
    });
    for (const { text, state } of await Promise.all(readers)) {
      expect(text).toBe(TEXT);
      expect(state).toBe('recorded');
    }
    await turn;
    const { json } = await kit.get('/agents/ada/answer');
    expect(json['message_id']).toBe(agent.messages.at(-1)!.messageId);
    expect(kit.unexpected).toEqual([]);
  });

  it('goes on with the next answer behind the one before', async () => {
    const { kit, agent } = await withAgent({ text: 'One.' }, { text: 'Two.' });
    await agent.send('first');
    const { next } = await readOn(kit, fresh());
    await agent.send('second');
    const { json } = await kit.get(`/agents/ada/answer?after=${next}`);
    expect(json).toMatchObject({ parts: [{ text: 'Two.', turn_id: 'turn_0002' }], state: 'recorded' });
    expect((await kit.get('/agents/ada/answer')).json['parts']).toMatchObject([{ text: 'Two.' }]);
  });

  it('says where an answer that is asked for again discards what it said', async () => {
    const { kit, agent } = await withAgent(
      { text: 'Wrong.', fails: new Error('overloaded') },
      { text: 'Right.' },
    );
    await agent.send('tell');
    expect((await readOn(kit, fresh())).text).toBe('Right.');
  });

  it('answers at once without wait_ms, and after it if nothing comes', async () => {
    const { kit } = await withAgent();
    expect((await kit.get('/agents/ada/answer')).json).toEqual({
      ...{ agent_id: 'ada', parts: [], next: 0, state: 'none', message_id: null },
    });
    const start = performance.now();
    await kit.get('/agents/ada/answer?wait_ms=300');
    expect(performance.now() - start).toBeGreaterThan(290);
  });

  it('writes nothing, also when it waits', async () => {
    const { kit, agent } = await withAgent({ text: 'One.' });
    await agent.send('first');
    await agent.stop();
    const silent = createAgent({ agentId: 'bea', memoryDir: kit.dir, model: new ScriptedModel([]) });
    await silent.start();
    await silent.stop();
    const before = await folderPrint(kit.dir);
    await kit.get('/agents/ada/answer');
    await kit.get('/agents/ada/answer?after=1&wait_ms=100');
    await kit.get('/agents/bea/answer?wait_ms=100');
    expect(await folderPrint(kit.dir)).toEqual(before);
  });

  it('is refused for an agent that is not there, and for a wait that is too long', async () => {
    const { kit } = await withAgent();
    expect((await kit.get('/agents/bob/answer')).status).toBe(404);
    for (const query of ['after=-1', 'after=x', 'wait_ms=25001', 'from=1'])
      expect((await kit.get(`/agents/ada/answer?${query}`)).status, query).toBe(400);
  });

  it('does not hold up a server that closes', async () => {
    const { kit } = await withAgent();
    const waiting = kit.get('/agents/ada/answer?wait_ms=20000').catch(() => null);
    await sleep(100);
    const start = performance.now();
    await kit.server.close();
    await waiting;
    expect(performance.now() - start).toBeLessThan(2_000);
    expect(kit.unexpected).toEqual([]);
  });
});

describe('readAnswer', () => {
  it('knows an answer whose process is gone, until the next start records it', async () => {
    const { kit, agent } = await withAgent({ text: TEXT, wordMs: 20 });
    for await (const event of agent.stream('tell')) {
      if (event.type !== 'text_delta') continue;
      expect((await readAnswer(kit.backend, 'ada')).state).toBe('writing');
      const dead = storageAfterKill(kit.dir);
      const reading = await readAnswer(dead, 'ada', { waitMs: 5_000 });
      expect(reading.state).toBe('cut_off');
      expect(reading.parts[0]!.text.startsWith(event.delta)).toBe(true);
      await dead.close();
      break;
    }
    expect((await readAnswer(kit.backend, 'ada')).state).toBe('recorded');
  });

  it('has the last parts of an answer that ends while it looks', async () => {
    const { kit, agent } = await withAgent({ text: TEXT, wordMs: 8 });
    const begun = new Promise<void>((resolve) => agent.events.on('text_delta', () => resolve()));
    const turn = agent.send('tell');
    await begun;
    const slow = new LateTraces(kit.backend, turn);
    const { parts, state } = await readAnswer(slow, 'ada');
    expect(state).toBe('recorded');
    expect(parts.map(({ text }) => text).join('')).toBe(TEXT);
  });
});
