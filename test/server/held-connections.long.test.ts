/** Clients that hold what others need: connections, and time. */
import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { memoryTools } from '../../src/memory/tools/memory-tools.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { filePlace, openAgent, talk } from '../memory/memory-kit.js';
import { eventClient } from './event-client.js';
import { keyPath, MERGE_TYPE, STATE, serverKit, sleep } from './server-kit.js';

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const BATCH = 100;

/** A batch at a time: the kernel takes only so many that nobody has accepted, and leaves the rest half open. */
async function silentSockets(port: number, count: number): Promise<net.Socket[]> {
  const sockets: net.Socket[] = [];
  while (sockets.length < count) {
    // Only a socket that reads sees its end.
    const batch = Array.from({ length: Math.min(BATCH, count - sockets.length) }, () =>
      net
        .connect(port, '127.0.0.1')
        .on('error', () => {})
        .resume(),
    );
    await Promise.all(
      batch.map(
        (socket) => new Promise<void>((resolve) => socket.once('connect', resolve).once('close', resolve)),
      ),
    );
    sockets.push(...batch);
  }
  return sockets;
}

describe('1,100 connections that say nothing', () => {
  it('keep out nobody who knows the token, and end no connection of theirs', async () => {
    const kit = await serverKit();
    const events = await eventClient(kit.port, {});
    const sockets = await silentSockets(kit.port, 1_100);
    const start = performance.now();
    expect((await kit.put('k', 1)).status).toBe(200);
    const newcomer = await eventClient(kit.port, {});
    expect(performance.now() - start).toBeLessThan(4_000); // the headers' time limit is ten seconds
    expect(events.socket.readyState).toBe(events.socket.OPEN);
    const open = () => sockets.filter((socket) => !socket.destroyed).length;
    for (let waited = 0; open() > 256 && waited < 5_000; waited += 50) await sleep(50);
    expect(open()).toBeLessThanOrEqual(256);
    for (const socket of sockets) socket.destroy();
    newcomer.socket.terminate();
  }, 20_000);
});

describe('ten bodies of 1 MB that are nested deep', () => {
  it('are refused in the time of ten that are too large, and others are answered meanwhile', async () => {
    const kit = await serverKit();
    const half = 500_000;
    const lists = `{"value":${'['.repeat(half)}${']'.repeat(half)}}`;
    const objects = `{"value":${'{"a":'.repeat(160_000)}1${'}'.repeat(160_000)}}`;
    const put = (raw: string) => kit.call('PUT', keyPath('k'), { raw });
    const attacks = [lists, objects].flatMap((raw) => [
      ...Array.from({ length: 4 }, () => put(raw)),
      kit.call('PATCH', STATE, { raw, headers: { 'Content-Type': MERGE_TYPE } }),
    ]);
    const [read, answers] = await Promise.all([kit.get(STATE), Promise.all(attacks)]);
    expect(read.status).toBe(200);
    for (const answer of answers) {
      expect(answer.status).toBe(422);
      expect(answer.json).toMatchObject({ code: 'LIMIT_EXCEEDED', details: { limit: 'depth' } });
    }
    expect(kit.unexpected).toEqual([]);
    const deep = await timeOf(() => Promise.all(Array.from({ length: 10 }, () => put(lists))));
    const flat = `{"value":"${'x'.repeat(1_000_000)}"}`;
    const plain = await timeOf(() => Promise.all(Array.from({ length: 10 }, () => put(flat))));
    expect(deep).toBeLessThan(2 * plain + 300);
  }, 20_000);
});

describe('a search', () => {
  it('looks through 10 MB in a moment, whatever the word is', async () => {
    const place = await filePlace();
    const { memory } = await openAgent(place);
    await talk(memory, 'a'.repeat(5_000_000), `${'ab'.repeat(2_500_000)} Σίσυφος`);
    await memory.close();
    const backend = new FileStorage(place.root);
    const search = memoryTools({ backend, agentId: memory.agentId }).find(
      ({ name }) => name === 'memory_search',
    );
    const find = (query: string) =>
      search!.execute({ query }, {} as never) as Promise<{ results: unknown[] }>;
    await find('warm');
    const plain = await timeOf(() => find('warm')); // reading the journal takes most of it
    for (const query of [`b${'a'.repeat(249)}`, `${'a'.repeat(249)}c`, `${'ab'.repeat(120)}c`]) {
      const time = await timeOf(() => find(query));
      expect(time).toBeLessThan(2 * plain + 1_000);
    }
    expect((await find(`b${'a'.repeat(249)}`)).results).toEqual([]);
    const [best] = (await find('σίσυφοσ')).results as { text: string }[];
    expect(best!.text).toContain('Σίσυφος');
    await backend.close();
  }, 90_000);
});
