/** A store that was restored from a backup, and clients that saw more than it has. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { startServer } from '../../src/server/rekindle-server.js';
import { SharedState } from '../../src/state/shared/shared-state.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { eventClient } from './event-client.js';
import { ask, STATE, serverKit, TOKEN } from './server-kit.js';

interface Restored {
  readonly port: number;
  readonly state: SharedState;
  /** Of version 10 before the backup came back. */
  readonly seen: string;
  /** Of version 5, which is in the backup. */
  readonly shared: string;
}

/** Five changes are in the backup. Ten were seen; then `after` others took place. */
async function restored(after: number): Promise<Restored> {
  const kit = await serverKit();
  for (let n = 1; n <= 5; n += 1) await kit.put(`k${n}`, 'both');
  const backup = `${kit.dir}-backup`;
  await fs.cp(kit.dir, backup, { recursive: true });
  for (let n = 6; n <= 10; n += 1) await kit.put(`k${n}`, 'lost');
  const { events } = (await kit.get(`${STATE}/events`)).json as { events: JsonObject[] };
  const backend = new FileStorage(backup, { durability: 'relaxed' });
  const state = new SharedState(backend, { root: 'root' });
  for (let n = 6; n < 6 + after; n += 1) await state.set(`k${n}`, 'new');
  const server = await startServer({ backend, token: TOKEN, port: 0 });
  onTestFinished(async () => {
    await server.close();
    await state.close();
    await fs.rm(path.resolve(backup), { recursive: true, force: true });
  });
  return {
    port: server.port,
    state,
    seen: String(events[9]?.['history']),
    shared: String(events[4]?.['history']),
  };
}

async function told(port: number, since: JsonObject, count: number): Promise<unknown[]> {
  const client = await eventClient(port, { atEnd: onTestFinished });
  client.say({ type: 'subscribe', to: 'state', session: 'root', ...since });
  const isOurs = ({ type }: JsonObject) => type === 'resync' || type === 'state_key_updated';
  await client.until(() => client.messages.filter(isOurs).length >= count);
  return client.messages.filter(isOurs).map(({ type, global_version }) => [type, global_version]);
}

it.each([0, 3, 5, 8])(
  'a client beyond a backup that has gone on for %i changes reads the state anew',
  async (after) => {
    const { port, state, seen } = await restored(after);
    expect(await told(port, { since: 10, history: seen }, 1)).toEqual([['resync', 5 + after]]);
    const target = `${STATE}/events?since=10&history=${seen}`;
    expect((await ask(port, 'GET', target)).json).toMatchObject({ resync: true, events: [] });
    expect(await state.continues(10, seen)).toBe(false);
    await expect(state.changesSince(10, 9, seen)).rejects.toMatchObject({ code: 'HISTORY_GONE' });
  },
);

it('a client that names no history is told of a version that is beyond the newest one', async () => {
  const { port, state } = await restored(2);
  expect(await told(port, { since: 10 }, 1)).toEqual([['resync', 7]]);
  expect((await ask(port, 'GET', `${STATE}/events?since=10`)).json['resync']).toBe(true);
  await expect(state.changesSince(10)).rejects.toMatchObject({ code: 'HISTORY_GONE' });
});

it('a client that saw only what is in the backup goes on', async () => {
  const { port, state, shared } = await restored(2);
  const changes = [6, 7].map((version) => ['state_key_updated', version]);
  expect(await told(port, { since: 5, history: shared }, 2)).toEqual(changes);
  expect(await state.changesSince(5, 9, shared)).toHaveLength(2);
  const view = (await ask(port, 'GET', STATE)).json;
  expect(await state.continues(7, String(view['history']))).toBe(true);
  expect(await state.continues(0)).toBe(true);
});
