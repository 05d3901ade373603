/** What a server waits for, and for how long. At the same time, because they wait. */
import http from 'node:http';
import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { eventClient } from './event-client.js';
import { serverKit, sleep, slowPut, TOKEN, upgradeBytes } from './server-kit.js';

describe.concurrent('a server', () => {
  it('closes a WebSocket with 4401 when no token comes within 5 seconds', async ({ onTestFinished }) => {
    const kit = await serverKit({}, { onTestFinished });
    const client = await eventClient(kit.port, { token: null, atEnd: onTestFinished });
    const from = performance.now();
    expect(await client.closed).toBe(4401);
    expect(performance.now() - from).toBeGreaterThan(4_500);
    expect(performance.now() - from).toBeLessThan(7_000);
  });

  it('that closes waits no longer than 6 seconds for clients that do not answer, or say nothing', async ({
    onTestFinished,
  }) => {
    const kit = await serverKit({}, { onTestFinished });
    const client = await eventClient(kit.port, { atEnd: onTestFinished });
    client.socket.pause();
    const silent = await silentSocket(kit.port);
    const from = performance.now();
    await kit.server.close();
    expect(performance.now() - from).toBeLessThan(6_000);
    silent.destroy();
  });

  it('that closes does not wait for connections that are kept alive after their last answer', async ({
    onTestFinished,
  }) => {
    const kit = await serverKit({}, { onTestFinished });
    const agent = new http.Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const answered = slowPut(kit.port, agent);
    await sleep(80);
    const from = performance.now();
    await kit.server.close();
    expect(await answered).toBe(200);
    expect(performance.now() - from).toBeLessThan(2_000);
  });

  it('that closes ends also when a socket becomes a WebSocket meanwhile', async ({ onTestFinished }) => {
    const kit = await serverKit({}, { onTestFinished });
    const socket = await silentSocket(kit.port);
    let isClosed = false;
    const closing = kit.server.close().then(() => (isClosed = true));
    const headers = { Host: `127.0.0.1:${kit.port}`, Authorization: `Bearer ${TOKEN}` };
    socket.write(upgradeBytes('/events', headers));
    for (let waited = 0; waited < 7_000 && !isClosed; waited += 50) await sleep(50);
    const ended = isClosed;
    socket.destroy();
    await closing;
    expect(ended).toBe(true);
  });
});

async function silentSocket(port: number): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  await sleep(20); // until the server has it
  return socket;
}
