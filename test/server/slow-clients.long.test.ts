/** Clients that are slow, or do not read: they cost others nothing, and the server little. A process of its own for each. */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../src/core/json.js';
import { CLI_BUILD } from '../support/build-cli.js';
import { isEvent } from './event-client.js';
import { ask, STATE, sleep } from './server-kit.js';

const MIB = 1024 * 1024;
const VALUE_BYTES = 200_000;
const CHANGES = 500;
/** Before it is measured. */
const WARM = 100;
const READERS = 8;
const GROWTH_MAX = 64 * MIB;

interface Served {
  readonly port: number;
  readonly headers: { readonly Authorization: string };
  /** Resident memory, in bytes. */
  rss(): Promise<number>;
}

const children: ChildProcess[] = [];
const folders: string[] = [];

afterAll(async () => {
  for (const child of children) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
  for (const folder of folders) await fs.rm(folder, { recursive: true, force: true });
});

async function serve(): Promise<Served> {
  const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-slow-'));
  folders.push(dir);
  const main = path.join(CLI_BUILD, 'cli', 'main.js');
  // A small heap: what grows beyond it is held, and not only garbage that nobody needed to collect yet.
  const heap = ['--max-old-space-size=128', '--max-semi-space-size=4'];
  const child = spawn(process.execPath, [...heap, main, 'serve', '--dir', dir, '--port', '0', '--json']);
  children.push(child);
  const line = await new Promise<{ port: number; token: string }>((resolve, reject) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(JSON.parse(String(chunk)) as never));
    child.stderr.once('data', (chunk: Buffer) => reject(new Error(String(chunk))));
  });
  const headers = { Authorization: `Bearer ${line.token}` };
  const made = await ask(line.port, 'POST', '/sessions', { body: { id: 'root' }, headers });
  expect(made.status).toBe(201);
  const rss = async () => {
    const status = await fs.readFile(`/proc/${child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
  };
  return { port: line.port, headers, rss };
}

/** Sends what it is given byte by byte, as long as it is let. */
function drip(port: number, first: string, rest: string): { readonly ended: Promise<number> } {
  const from = performance.now();
  const socket = net.connect(port, '127.0.0.1', () => socket.write(first));
  let sent = 0;
  const timer = setInterval(() => {
    const byte = rest[sent];
    if (byte !== undefined && socket.writable) socket.write(byte);
    sent += 1;
  }, 250);
  socket.on('error', () => {});
  socket.resume();
  const ended = new Promise<number>((resolve) =>
    socket.once('close', () => {
      clearInterval(timer);
      resolve(performance.now() - from);
    }),
  );
  return { ended };
}

async function timesOf(count: number, { port, headers }: Served): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const from = performance.now();
    const target = index % 2 === 0 ? '/sessions' : STATE;
    expect((await ask(port, 'GET', target, { headers })).status).toBe(200);
    times.push(performance.now() - from);
  }
  return times.sort((a, b) => a - b);
}

/** Subscribes, and reads or does not. */
async function reader({ port, headers }: Served, isReading: boolean, since = 0) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/events`, { headers });
  const versions: number[] = [];
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  socket.on('error', () => {});
  const subscribed = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as JsonObject;
      if (message['type'] === 'subscribed') resolve();
      if (isEvent(message)) versions.push(message['global_version'] as number);
    });
  });
  await new Promise<void>((resolve) => socket.once('open', resolve));
  socket.send(JSON.stringify({ type: 'subscribe', to: 'state', session: 'root', since }));
  if (isReading || since > 0) await subscribed;
  if (!isReading) socket.pause();
  return { socket, versions, closed };
}

async function write({ port, headers }: Served, count: number): Promise<void> {
  const body = { value: 'x'.repeat(VALUE_BYTES) };
  const put = (index: number) => ask(port, 'PUT', `${STATE}/keys/k${index % 10}`, { body, headers });
  for (let index = 0; index < count; index += 4) {
    const answers = await Promise.all([0, 1, 2, 3].map((offset) => put(index + offset)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  }
}

/** How much it grew at most, until the end. */
function watchRss(served: Served, before: number) {
  let most = 0;
  const timer = setInterval(() => {
    served.rss().then(
      (now) => (most = Math.max(most, now - before)),
      () => clearInterval(timer), // the server is gone: a test failed
    );
  }, 50);
  return {
    end: () => {
      clearInterval(timer);
      return most;
    },
  };
}

let flooded: Served | null = null;
let measured: () => void;
const isMeasured = new Promise<void>((resolve) => (measured = resolve));

describe.concurrent('slow clients', () => {
  it('that send headers or bodies byte by byte delay no other, and are ended', async () => {
    const served = await serve();
    const host = `Host: 127.0.0.1:${served.port}\r\n`;
    const token = `Authorization: ${served.headers.Authorization}\r\n`;
    const head = `PUT ${STATE}/keys/k HTTP/1.1\r\n${host}${token}Content-Type: application/json\r\n`;
    const inHeaders = Array.from({ length: 100 }, () =>
      drip(served.port, 'GET / HTT', 'P/1.1\r\nX: '.padEnd(500, 'x')),
    );
    for (let index = 0; index < 100; index += 1)
      drip(served.port, `${head}Content-Length: 1000\r\n\r\n`, '{"value":"'.padEnd(500, 'x'));
    await sleep(500);
    const times = await timesOf(50, served).finally(measured);
    expect(times.at(-1)).toBeLessThan(250);
    const lived = await Promise.all(inHeaders.map(({ ended }) => ended));
    expect(Math.max(...lived)).toBeLessThan(13_000);
    expect(Math.min(...lived)).toBeGreaterThan(8_000);
  });

  it('that do not read events are dropped; others get everything, and little memory is used', async () => {
    await isMeasured;
    const served = await serve();
    flooded = served;
    // What the changes themselves need, with a client that reads: more than that is what those that do not read cost.
    const good = await reader(served, true);
    const usual = watchRss(served, 0);
    await write(served, WARM);
    const before = usual.end();
    const paused = await Promise.all(Array.from({ length: READERS }, () => reader(served, false, WARM)));
    const growth = watchRss(served, before);
    await write(served, CHANGES);
    const dropped = await Promise.race([
      Promise.all(
        paused.map(async ({ socket, closed }) => {
          for (let waited = 0; waited < 12_000 && (await isConnected(served, socket)); waited += 250)
            await sleep(250);
          socket.resume();
          return closed;
        }),
      ),
      sleep(16_000),
    ]);
    const most = growth.end();
    expect(good.versions).toEqual(Array.from({ length: WARM + CHANGES }, (_, index) => 1 + index));
    expect(dropped).toHaveLength(READERS);
    for (const code of dropped as number[]) expect([4408, 1006]).toContain(code);
    good.socket.terminate();
    expect(most, `grew by ${Math.round(most / MIB)} MiB`).toBeLessThan(GROWTH_MAX);
  });
});

describe('a long past', () => {
  it('that clients ask for and do not read takes little memory', async () => {
    const served = flooded!;
    const before = await served.rss();
    const growth = watchRss(served, before);
    const clients = await Promise.all(Array.from({ length: READERS }, () => reader(served, false, 0)));
    await sleep(3_000);
    const most = growth.end();
    for (const { socket } of clients) socket.terminate();
    expect(most, `grew by ${Math.round(most / MIB)} MiB`).toBeLessThan(GROWTH_MAX);
  });
});

/** Whether the server still has the other end: it is looked for in the table of the system, since a client that does not read cannot tell. */
async function isConnected({ port }: Served, socket: WebSocket): Promise<boolean> {
  const local = (socket as unknown as { _socket: net.Socket })._socket.localPort;
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(4, '0');
  const table = await fs.readFile('/proc/net/tcp', 'utf8');
  return table.split('\n').some((line) => {
    const [, from = '', to = '', state] = line.trim().split(/\s+/);
    return from.endsWith(`:${hex(port)}`) && to.endsWith(`:${hex(local ?? 0)}`) && state === '01';
  });
}
