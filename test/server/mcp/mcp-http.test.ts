import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type RunningServer, startServer } from '../../../src/server/rekindle-server.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { mcpContract } from './mcp-contract.js';
import { type Caller, connected } from './mcp-kit.js';

const TOKEN = 'token-of-the-mcp-test';

function transportTo({ url }: RunningServer, { session, agent }: Caller, token = TOKEN) {
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(session === undefined ? {} : { 'X-Agent-Session-Id': session }),
    ...(agent === undefined ? {} : { 'X-Agent-Id': agent }),
  };
  return new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } });
}

/** A server without any session or agent. */
async function emptyServer(): Promise<RunningServer> {
  const server = await startServer({ backend: new MemoryStorage(), token: TOKEN, port: 0 });
  onTestFinished(() => server.close());
  return server;
}

/** What a client learns when it cannot connect. */
async function refusal(server: RunningServer, caller: Caller, token = TOKEN): Promise<string> {
  const thrown = await connected(transportTo(server, caller, token)).then(
    () => 'it is connected',
    (error: unknown) => error,
  );
  return thrown instanceof Error ? thrown.message : String(thrown);
}

describe('MCP over HTTP', () => {
  mcpContract(async ({ storage }) => {
    const server = await startServer({ backend: storage, token: TOKEN, port: 0 });
    return { transport: (caller) => transportTo(server, caller), close: () => server.close() };
  });
});

describe('the address of MCP', () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };
  const post = ({ url }: RunningServer, headers: Record<string, string>, body: unknown = initialize) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${TOKEN}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(5_000),
    });

  it('wants the token', async () => {
    const server = await emptyServer();
    expect(await refusal(server, {}, 'some-other-token')).toContain('The token is wrong.');
    expect((await post(server, { Authorization: '' })).status).toBe(401);
  });

  it('refuses the page of another site', async () => {
    const response = await post(await emptyServer(), { Origin: 'https://evil.example' });
    expect(response.status).toBe(403);
  });

  it('answers what is no JSON, a body that is too large and GET at once', async () => {
    const server = await emptyServer();
    expect((await post(server, {}, '{no json')).status).toBe(400);
    expect((await post(server, {}, JSON.stringify('x'.repeat(1024 * 1024)))).status).toBe(413);
    const get = await fetch(`${server.url}/mcp`, { headers: { Authorization: `Bearer ${TOKEN}` } });
    expect([get.status, get.headers.get('Allow')]).toEqual([405, 'POST']);
  });

  it.each([
    ['session', { 'X-Agent-Session-Id': 'nobody' }],
    ['agent', { 'X-Agent-Id': 'nobody' }],
  ])('answers an unknown %s at once, and shows nothing of its insides', async (_what, headers) => {
    const response = await post(await emptyServer(), headers);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(await response.text()).not.toMatch(/\.[jt]s\b|\bat /);
  });

  it.each([
    ['session', { 'X-Agent-Session-Id': 'nobody' }, 'SESSION_NOT_FOUND'],
    ['agent', { 'X-Agent-Id': 'nobody' }, 'AGENT_NOT_FOUND'],
  ])('says that there is no such %s', async (_what, headers, code) => {
    const response = await post(await emptyServer(), headers);
    expect(await response.text()).toContain(code);
    expect(response.status).toBeLessThan(500);
  });

  it('lets no client with an unknown session in', async () => {
    expect(await refusal(await emptyServer(), { session: 'nobody' })).not.toBe('it is connected');
  });
});
