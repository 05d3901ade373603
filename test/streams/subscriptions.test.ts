/** Subscriptions: workers are woken once, again after they fail, and only the current one moves positions. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ManualClock } from '../../src/core/clock.js';
import { isInternalAddress } from '../../src/messages/projections/internal-url.js';
import { publicLookup, webhookProblem } from '../../src/server/http/streams/webhook-calls.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { DurableStreams } from '../../src/streams/durable-streams.js';
import { StreamSubscriptions } from '../../src/streams/subscriptions/stream-subscriptions.js';
import { matchesPattern, type SubscriptionConfig } from '../../src/streams/subscriptions/subscription.js';
import { digestOf, type WakeCall } from '../../src/streams/subscriptions/wake-call.js';

const config: SubscriptionConfig = {
  ...{ type: 'webhook', pattern: 'events/*', streams: [], webhookUrl: 'https://worker.example/hook' },
  ...{ wakeStream: null, leaseMs: 1_000, description: null },
};

interface World {
  readonly clock: ManualClock;
  readonly streams: DurableStreams;
  readonly subscriptions: StreamSubscriptions;
  readonly calls: WakeCall[];
  answer: () => { done: boolean };
  /** The server ends, and another one starts on the same store. */
  restart(): Promise<World>;
}

async function world(dir?: string, clock = new ManualClock()): Promise<World> {
  const folder = dir ?? (await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-subscriptions-')));
  const backend = new FileStorage(folder, { durability: 'relaxed' });
  const streams = new DurableStreams(backend, { clock });
  const calls: WakeCall[] = [];
  const subscriptions = new StreamSubscriptions(backend, streams, {
    callWebhook: async (call) => {
      calls.push(call);
      return made.answer();
    },
    clock,
    onFailed: () => {},
  });
  const end = async () => {
    await subscriptions.close();
    await streams.close();
    await backend.close();
  };
  const made: World = {
    ...{ clock, streams, subscriptions, calls, answer: () => ({ done: false }) },
    restart: async () => {
      await end();
      return world(folder, clock);
    },
  };
  onTestFinished(async () => {
    await end();
    if (!dir) await fs.rm(folder, { recursive: true, force: true });
  });
  return made;
}

async function add({ streams }: World, name: string): Promise<void> {
  const body = Buffer.from('{}');
  const settings = { type: 'application/json', ttlSeconds: null, expiresMs: null, closes: false, fork: null };
  await streams.create(name, { ...settings, body: new Uint8Array() });
  await streams.append(name, { type: 'application/json', body });
}

const proofOf = ({ wake, token }: WakeCall) => ({
  ...{ wakeId: wake.id, generation: wake.generation, tokenDigest: digestOf(token) },
});
const called = (of: World, times: number) => vi.waitFor(() => expect(of.calls.length).toBe(times));

describe('a subscription', () => {
  it('follows streams of its pattern from the beginning, and those that were there from their end', async () => {
    const here = await world();
    await add(here, 'events/old');
    await here.subscriptions.create('s', config, 'http://x');
    await add(here, 'other/new');
    await add(here, 'events/new');
    await called(here, 1);
    const { links } = here.calls[0]!.subscription;
    expect(links.map((link) => [link.path, link.acked])).toEqual([
      ['events/old', 1],
      ['events/new', 0],
    ]);
  });

  it('moves positions for the current worker only, and never back', async () => {
    const here = await world();
    await here.subscriptions.create('s', config, 'http://x');
    await add(here, 'events/a');
    await called(here, 1);
    const proof = proofOf(here.calls[0]!);
    const acks = new Map([['events/a', 99]]);
    for (const wrong of [{ wakeId: 'w' }, { generation: 2 }, { tokenDigest: digestOf('guess') }])
      expect(await here.subscriptions.acknowledge('s', { ...proof, ...wrong }, acks, true)).toEqual({
        kind: 'fenced',
      });
    expect(await here.subscriptions.acknowledge('s', proof, acks, true)).toEqual({
      kind: 'done',
      nextWake: false,
    });
    expect((await here.subscriptions.read('s'))?.links[0]?.acked).toBe(1);
    expect(await here.subscriptions.acknowledge('s', proof, acks, true)).toEqual({ kind: 'fenced' });
  });

  it('wakes again when a worker does not come back, also after a restart of the server', async () => {
    const here = await world();
    await here.subscriptions.create('s', config, 'http://x');
    await add(here, 'events/a');
    await called(here, 1);
    here.clock.advance(2_000);
    const next = await here.restart();
    next.subscriptions.start();
    await called(next, 1);
    expect(next.calls[0]!.wake.generation).toBe(2);
    const old = proofOf(here.calls[0]!);
    expect(await next.subscriptions.acknowledge('s', old, new Map(), true)).toEqual({ kind: 'fenced' });
  });

  it('calls a webhook that fails later again, and what was done at once is not sent again', async () => {
    const here = await world();
    here.answer = () => {
      throw new Error('down');
    };
    await here.subscriptions.create('s', config, 'http://x');
    await add(here, 'events/a');
    await called(here, 1);
    await vi.waitFor(async () => expect((await here.subscriptions.read('s'))?.failed?.attempts).toBe(1));
    here.answer = () => ({ done: true });
    await add(here, 'events/a');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(here.calls.length).toBe(1);
    here.clock.advance(2_000);
    await add(here, 'events/a');
    await called(here, 2);
    await vi.waitFor(async () => expect((await here.subscriptions.read('s'))?.wake).toBeNull());
    expect((await here.subscriptions.read('s'))?.links[0]?.acked).toBe(3);
  });

  it('gives pending work to one of many workers that claim at the same time', async () => {
    const here = await world();
    await add(here, 'wake');
    const pull: SubscriptionConfig = { ...config, type: 'pull-wake', webhookUrl: null, wakeStream: 'wake' };
    await here.subscriptions.create('s', { ...pull, pattern: '**' }, 'http://x');
    expect((await here.subscriptions.claim('s', 'early')).kind).toBe('idle');
    await add(here, 'events/a');
    await vi.waitFor(async () =>
      expect((await here.streams.info('wake')) as object).toMatchObject({ tail: 2 }),
    );
    const outcomes = await Promise.all(
      ['a', 'b', 'c'].map((worker) => here.subscriptions.claim('s', worker)),
    );
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['claimed', 'held', 'held']);
    expect((await here.subscriptions.read('s'))?.links.map((link) => link.path)).toEqual(['events/a']);
  });
});

describe('a pattern', () => {
  it.each([
    ['events/*', 'events/a', true],
    ['events/*', 'events/a/b', false],
    ['events/**', 'events/a/b', true],
    ['events/**', 'events', true],
    ['**/log', 'a/b/log', true],
    ['**/log', 'log', true],
    ['a*c', 'abc', true],
    ['a*a', 'a', false],
    ['*', 'a/b', false],
    ['events/a', 'events/A', false],
  ])('%s and %s: %s', (pattern, name, fits) => {
    expect(matchesPattern(pattern, name)).toBe(fits);
  });
});

describe('a webhook', () => {
  it.each([
    'http://worker.example/hook',
    'https://10.0.0.1/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:192.168.0.1]/',
    'https://169.254.169.254/latest',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://localhost/',
    ' https://10.0.0.1/',
    'https://metadata.internal/',
    'https://[64:ff9b::a00:1]/',
    'https://printer.local/',
    'https://user:secret@worker.example/',
    'file:///etc/passwd',
    'http://localhost:8080/',
  ])('is not called at %s', (url) => {
    expect(webhookProblem(url, false)).not.toBeNull();
  });

  it('is called at public addresses, and on this machine only where the server says so', () => {
    expect(webhookProblem('https://worker.example/hook', false)).toBeNull();
    expect(webhookProblem('http://127.0.0.1:8080/', true)).toBeNull();
    expect(webhookProblem('http://10.0.0.1/', true)).not.toBeNull();
  });

  it.each(['10.0.0.1', '::1', 'fe80::1%eth0', '::ffff:10.0.0.1', 'no address'])(
    'is not called where a name stands for %s',
    (address) => {
      expect(isInternalAddress(address)).toBe(true);
      expect(isInternalAddress('93.184.215.14')).toBe(false);
    },
  );

  it.each([true, false])(
    'is not called at a name that stands for this machine (all addresses: %s)',
    async (all) => {
      const found = await new Promise((resolve) =>
        publicLookup('localhost', { all }, (thrown) => resolve(thrown)),
      );
      expect(found).toMatchObject({ message: expect.stringContaining('private network') });
    },
  );
});
