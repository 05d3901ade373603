/** Many entries of a workspace over MCP: how long they take, and that a call ends with its caller. */
import http from 'node:http';
import { type Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CheckpointService } from '../../../src/checkpoints/checkpoint-service.js';
import { McpTools } from '../../../src/server/mcp/mcp-server.js';
import { type RunningServer, startServer } from '../../../src/server/rekindle-server.js';
import { SharedSessions } from '../../../src/state/shared/shared-sessions.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { SlowStorage, until, writeEntries } from '../../workspace/many-entries.js';
import { call, connected } from './mcp-kit.js';

const TOKEN = 'token-of-the-mcp-test';
const CALL = { name: 'get_workspace_context', arguments: {} };
const COUNT = 2_000;

async function served(
  backend: StorageBackend,
  mode: 'legacy' | 'auto' = 'legacy',
): Promise<{ server: RunningServer; client: Client }> {
  const server = await startServer({ backend, token: TOKEN, port: 0 });
  onTestFinished(() => server.close());
  const requestInit = { headers: { Authorization: `Bearer ${TOKEN}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit });
  const client = await connected(transport, mode);
  onTestFinished(() => client.close());
  return { server, client };
}

/** Without HTTP between the two. */
async function linked(backend: StorageBackend): Promise<{ tools: McpTools; client: Client }> {
  const [shared, checkpoints] = [new SharedSessions(backend), new CheckpointService({ backend })];
  const tools = new McpTools({ backend, shared, checkpoints, version: '0' });
  onTestFinished(() => tools.close());
  const [near, far] = InMemoryTransport.createLinkedPair();
  const caller = await tools.known({ session: null, agent: null });
  await (await tools.serverFor(caller)).connect(far as never);
  return { tools, client: await connected(near) };
}

/** Its entries are known, and their values are read slowly from now on. */
async function slowStorage(): Promise<SlowStorage> {
  const storage = new SlowStorage();
  await writeEntries(storage, COUNT);
  return storage;
}

/** What is read of entries from now on is read for one call, which is under way when this resolves. */
async function underWay(storage: SlowStorage): Promise<void> {
  await until(() => storage.read > 20);
}

async function isStopped(storage: SlowStorage): Promise<void> {
  await until(() => storage.reading === 0);
  expect(storage.read).toBeLessThan(COUNT);
}

async function warm(client: Client, storage: SlowStorage): Promise<void> {
  await call(client, 'get_workspace_context');
  [storage.isSlow, storage.read] = [true, 0];
}

describe('a workspace of 20,000 entries over MCP', () => {
  it('is given as a whole within three seconds', async () => {
    const backend = new MemoryStorage();
    await writeEntries(backend, 20_000);
    const { client } = await served(backend);
    let best = Number.POSITIVE_INFINITY;
    for (let n = 0; n < 3; n += 1) {
      const began = performance.now();
      const { text } = await call(client, 'get_workspace_context');
      best = Math.min(best, performance.now() - began);
      expect(text.match(/<workspace_entry /g)).toHaveLength(20_000);
    }
    expect(best).toBeLessThan(3_000);
  });
});

describe('a call of a workspace tool', () => {
  it('ends when its client closes the connection', async () => {
    const storage = await slowStorage();
    const { server, client } = await served(storage);
    await warm(client, storage);
    const headers = {
      Authorization: `Bearer ${TOKEN}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    };
    const asked = http.request(`${server.url}/mcp`, { method: 'POST', headers, agent: false });
    asked.on('error', () => {});
    asked.end(JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: CALL }));
    await underWay(storage);
    asked.destroy();
    await isStopped(storage);
  });

  it('ends when its client cancels it over HTTP, which closes the stream of the call', async () => {
    const storage = await slowStorage();
    const { client } = await served(storage, 'auto');
    await warm(client, storage);
    const caller = new AbortController();
    client.callTool(CALL, { signal: caller.signal }).catch(() => {});
    await underWay(storage);
    caller.abort();
    await isStopped(storage);
  });

  it('ends when its client cancels it over any other transport', async () => {
    const storage = await slowStorage();
    const { client } = await linked(storage);
    await warm(client, storage);
    const cancelled = new AbortController();
    client.callTool(CALL, { signal: cancelled.signal }).catch(() => {});
    await underWay(storage);
    cancelled.abort();
    await isStopped(storage);
  });

  it('ends with ABORTED when the tools are told to stop', async () => {
    const storage = await slowStorage();
    const { tools, client } = await linked(storage);
    await warm(client, storage);
    const answer = call(client, 'get_workspace_context');
    await underWay(storage);
    await tools.close();
    expect((await answer).structured).toMatchObject({ error: { code: 'ABORTED' } });
    await isStopped(storage);
  });
});
