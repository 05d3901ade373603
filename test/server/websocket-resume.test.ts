/** Clients that come and go while two processes write: each change once, in order. */
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import type { SocketSender } from '../../src/server/websocket/socket-sender.js';
import type { StateFeed } from '../../src/server/websocket/state-feed.js';
import { StateSubscription } from '../../src/server/websocket/state-subscription.js';
import type { FeedEvent } from '../../src/server/websocket/stored-pages.js';
import { SharedState } from '../../src/state/shared/shared-state.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { eventClient, isEvent } from './event-client.js';
import { serverKit, sleep } from './server-kit.js';

const RECONNECTS = 20;

it('a client that goes at any moment and resumes with its last version misses no event and has none twice', async () => {
  const kit = await serverKit();
  const other = new SharedState(new FileStorage(kit.dir, { durability: 'relaxed' }), { root: 'root' });
  let writing = true;
  let written = 0;
  const counts = async (write: (index: number) => Promise<unknown>) => {
    for (let index = 0; writing; index += 1) {
      await write(index);
      written += 1;
    }
  };
  const writers = Promise.all([
    counts((index) => kit.put(`http${index % 3}`, index)),
    counts((index) => other.set(`other${index % 3}`, index)),
  ]);
  const events: JsonObject[] = [];
  const lastVersion = () => (events.at(-1)?.['global_version'] as number | undefined) ?? 0;
  const connect = async (until: () => Promise<unknown>) => {
    const client = await eventClient(kit.port);
    client.socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as JsonObject;
      if (isEvent(message)) events.push(message);
      expect(['subscribed', 'state_key_updated']).toContain(message['type']);
    });
    client.say({ type: 'subscribe', to: 'state', session: 'root', since: lastVersion() });
    await until();
    client.socket.terminate();
    await client.closed;
  };
  for (let index = 0; index < RECONNECTS; index += 1)
    await connect(async () => {
      await sleep(Math.random() * 60);
      return index % 2 === 0 ? null : sleep(0);
    });
  writing = false;
  await writers;
  await connect(async () => {
    for (let waited = 0; lastVersion() < written && waited < 5_000; waited += 10) await sleep(10);
  });
  await other.close();
  const versions = events.map((event) => event['global_version']);
  expect(written).toBeGreaterThan(RECONNECTS);
  expect(versions).toEqual(Array.from({ length: written }, (_, index) => index + 1));
  const stored = (await kit.get(`/sessions/root/state/events?limit=1000`)).json['events'] as JsonObject[];
  expect(events.slice(0, 1_000)).toEqual(stored);
});

/** Between the moment when a subscription found nothing more and the moment when it rests, in steps of the event loop. */
const lost = [2, 3];
it.each([0, 1, 4, 5, 6])('a change that comes %i steps after the last look is told at once', isTold);
it.each(lost)('a change that comes %i steps after the last look is told at once', isTold);

async function isTold(steps: number): Promise<void> {
  let wake = () => {};
  let there: FeedEvent[] = [];
  const sent: string[] = [];
  const feed = {
    generation: 0,
    onMore: (listener: () => void) => {
      wake = listener;
      return () => {};
    },
    after: async (version: number) => there.filter(({ globalVersion }) => globalVersion > version),
  } as unknown as StateFeed;
  const sender = {
    texts: async (texts: readonly string[]) => {
      sent.push(...texts);
      return true;
    },
  } as unknown as SocketSender;
  new StateSubscription(feed, sender, 0, () => {}).start();
  for (let step = 0; step < steps; step += 1) await Promise.resolve();
  there = [{ globalVersion: 1, text: 'one' }];
  wake();
  await sleep(5);
  expect(sent).toEqual(['one']);
}
