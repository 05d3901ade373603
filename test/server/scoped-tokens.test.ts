/** Tokens that reach a part of the store: what is another's is told like what is not there, at every address. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { forkAgent } from '../../src/agent/forks/fork-agent.js';
import { ManualClock } from '../../src/core/clock.js';
import type { JsonObject } from '../../src/core/json.js';
import { createAgent, ScriptedModel } from '../../src/index.js';
import type { Principal, TokenScope } from '../../src/server/access/principal.js';
import { TokenBook } from '../../src/server/access/token-book.js';
import { allRoutes } from '../../src/server/http/routes/all-routes.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { eventClient } from './event-client.js';
import { connected } from './mcp/mcp-kit.js';
import { type Answer, type ServerKit, serverKit, waitingAgent } from './server-kit.js';

const NOTHING: TokenScope = { agents: [], roots: [], session: null, mayWrite: true };

async function agentIn(kit: ServerKit, agentId: string): Promise<void> {
  const model = new ScriptedModel([{ text: 'yes' }]);
  const agent = createAgent({ agentId, memoryDir: kit.dir, model, systemPrompt: 'Be terse.' });
  await agent.start();
  await agent.send('a question');
  await agent.stop();
}

/** Two agents and two roots, `ada` and `root` of which a scoped token may reach. */
async function world(options: Parameters<typeof serverKit>[0] = {}): Promise<ServerKit> {
  const kit = await serverKit(options);
  await agentIn(kit, 'ada');
  await agentIn(kit, 'bob');
  await kit.session({ id: 'other' });
  await kit.session({ id: 'child', parent: 'root', agent: 'bob' });
  await kit.put('secret', 1);
  return kit;
}

async function tokenFor(kit: ServerKit, scope: Partial<TokenScope>): Promise<Record<string, string>> {
  const { token } = await new TokenBook(kit.backend).create({ ...NOTHING, ...scope });
  return { Authorization: `Bearer ${token}` };
}

const named = (answer: Answer, id: string): unknown =>
  JSON.parse(answer.text.replaceAll(encodeURIComponent(id), 'ID').replaceAll(id, 'ID'));

describe('a token of one agent', () => {
  it('sees that agent, and no other: as if there were none', async () => {
    const kit = await world();
    const headers = await tokenFor(kit, { agents: ['ada'] });
    const { agents } = (await kit.get('/agents', headers)).json as { agents: JsonObject[] };
    expect(agents.map((agent) => agent['agent_id'])).toEqual(['ada']);
    expect((await kit.get('/agents/ada/context', headers)).status).toBe(200);
    expect((await kit.get('/sessions', headers)).json).toEqual({ sessions: [] });
    expect((await kit.get('/checkpoints', headers)).json).toMatchObject({ total: 0, problems: [] });
  });

  it('learns of the forks that hinder an erasure only those that it reaches', async () => {
    const kit = await world();
    for (const as of ['ada-2', 'secret-fork']) await forkAgent(kit.backend, 'ada', { as });
    const headers = await tokenFor(kit, { agents: ['ada', 'ada-2'] });
    const refusal = await kit.call('DELETE', '/agents/ada', { headers });
    expect(refusal.status).toBe(409);
    expect(refusal.text).toContain('ada-2');
    expect(refusal.text).not.toContain('secret-fork');
    expect((await kit.call('DELETE', '/agents/ada?keep_forks=true', { headers })).status).toBe(200);
  });

  it('gets at every route the answer for another agent or session that it gets for one that is not there', async () => {
    const kit = await world();
    const headers = await tokenFor(kit, { agents: ['ada'] });
    for (const { method, path, reach, body } of allRoutes) {
      if (reach !== 'agent' && reach !== 'session') continue;
      const [theirs, absent] = reach === 'agent' ? ['bob', 'zed'] : ['other', 'nobody'];
      const asked = { headers, ...(body ? { body: {} } : {}) };
      const ask = (id: string) =>
        kit.call(method, path.replace('{id}', id).replace('{key}', 'secret').replace('{turn}', '1'), asked);
      const [answer, missing] = [await ask(theirs), await ask(absent)];
      expect([path, method, answer.status]).toEqual([path, method, 404]);
      expect(named(answer, theirs)).toEqual(named(missing, absent));
    }
    expect((await kit.get('/agents')).json['agents']).toHaveLength(2);
  });

  it('lists the approvals of its agent only, and decides as itself', async () => {
    const kit = await world();
    for (const agentId of ['ada', 'bob']) await waitingAgent(kit.dir, agentId);
    const headers = await tokenFor(kit, { agents: ['ada'] });
    const { approvals } = (await kit.get('/approvals', headers)).json as { approvals: JsonObject[] };
    expect(approvals).toMatchObject([{ agent_id: 'ada', tool_name: 'pay', decision: null }]);
    const body = { call_id: approvals[0]!['call_id'] as string, approved: false, reason: 'Not today.' };
    const decided = await kit.call('POST', '/agents/ada/approvals', { headers, body });
    expect(decided.json['decision']).toMatchObject({
      approved: false,
      by: expect.stringMatching(/^token /) as string,
    });
    const reader = await tokenFor(kit, { agents: ['bob'], mayWrite: false });
    expect((await kit.call('POST', '/agents/bob/approvals', { headers: reader, body })).status).toBe(403);
    const all = (await kit.get('/approvals')).json as { approvals: JsonObject[] };
    expect(all.approvals.map((one) => (one['decision'] as JsonObject | null)?.['approved'] ?? null)).toEqual([
      false,
      null,
    ]);
  });

  it('gets nothing of what belongs to the whole store', async () => {
    const kit = await world();
    const headers = await tokenFor(kit, { agents: ['ada'] });
    for (const { path } of allRoutes.filter(({ reach }) => reach === 'store'))
      expect((await kit.get(path, headers)).json).toMatchObject({
        status: 403,
        details: { reason: 'scope' },
      });
  });
});

describe('a token of one root session', () => {
  it('reads and writes its state and its children, and makes no other root', async () => {
    const kit = await world();
    const headers = await tokenFor(kit, { roots: ['root'] });
    const { sessions } = (await kit.get('/sessions', headers)).json as { sessions: JsonObject[] };
    expect(sessions.map((session) => session['id'])).toEqual(['root', 'child']);
    expect((await kit.put('k', 2, headers)).status).toBe(200);
    expect((await kit.get('/sessions/other/state', headers)).status).toBe(404);
    const made = await kit.call('POST', '/sessions', { headers, body: { parent: 'child' } });
    expect(made.status).toBe(201);
    const root = await kit.call('POST', '/sessions', { headers, body: { id: 'mine' } });
    expect(root.json).toMatchObject({ status: 403, details: { reason: 'scope' } });
    expect((await kit.call('POST', '/sessions', { headers, body: { parent: 'other' } })).status).toBe(404);
  });

  it('acts as the session that the token names, whatever a header says', async () => {
    const kit = await world();
    const headers = await tokenFor(kit, { roots: ['root'], session: 'child' });
    expect((await kit.put('k', 1, headers)).json).toMatchObject({ updated_by: 'child' });
    const forged = await kit.put('k', 2, { ...headers, 'X-Agent-Session-Id': 'root' });
    expect(forged.json).toMatchObject({ status: 403, details: { reason: 'scope' } });
  });
});

it('a token for reading changes nothing', async () => {
  const kit = await world();
  const headers = await tokenFor(kit, { agents: 'all', roots: 'all', mayWrite: false });
  expect((await kit.get('/sessions/root/state', headers)).status).toBe(200);
  for (const { method, path, body } of allRoutes) {
    if (method === 'GET') continue;
    const target = path
      .replace('{id}', path.startsWith('/agents') ? 'ada' : 'root')
      .replace('{key}', 'secret')
      .replace('{turn}', '1');
    const answer = await kit.call(method, target, { headers, ...(body ? { body: {} } : {}) });
    expect([method, path, answer.status]).toEqual([method, path, 403]);
  }
  expect((await kit.get('/agents/ada')).status).toBe(200);
});

describe('events', () => {
  it('of other agents and sessions do not come', async () => {
    const kit = await world();
    const { token } = await new TokenBook(kit.backend).create({
      ...NOTHING,
      agents: ['ada'],
      roots: ['root'],
    });
    const client = await eventClient(kit.port, { token: null });
    client.say({ type: 'authenticate', token });
    await client.until(({ type }) => type === 'authenticated');
    client.say({ type: 'subscribe', to: 'state', session: 'other' });
    expect(await client.until(({ type }) => type === 'error')).toMatchObject({ code: 'SESSION_NOT_FOUND' });
    for (const to of ['sessions', 'agents']) client.say({ type: 'subscribe', to });
    await client.until(({ to }) => to === 'agents');
    await kit.session({ parent: 'other', id: 'hidden' });
    await kit.session({ parent: 'root', id: 'shown' });
    await agentIn(kit, 'bob2');
    await agentIn(kit, 'ada2');
    await client.until(({ type }) => type === 'session_updated');
    await kit.session({ parent: 'root', id: 'last' });
    await client.until(({ session }) => (session as JsonObject | undefined)?.['id'] === 'last');
    const told = JSON.stringify(client.messages);
    expect(told).toContain('shown');
    expect(told).not.toMatch(/hidden|bob2|ada2/);
  });
});

describe('a connection for events', () => {
  it.each(['header', 'message'])(
    'ends at the next ping when its token (sent as a %s) was revoked',
    async (sent) => {
      vi.useFakeTimers({ toFake: ['setInterval'] });
      onTestFinished(() => void vi.useRealTimers());
      const kit = await serverKit();
      const { token, id } = await new TokenBook(kit.backend).create({ ...NOTHING, roots: ['root'] });
      const client = await eventClient(kit.port, { token: sent === 'header' ? token : null });
      client.say({ type: 'authenticate', token });
      await client.until(({ type }) => type === 'authenticated');
      vi.advanceTimersByTime(30_000);
      client.say({ type: 'subscribe', to: 'sessions' });
      await client.until(({ type }) => type === 'subscribed');
      await new TokenBook(kit.backend).revoke(id);
      await new Promise((resolve) => setTimeout(resolve, 1_050));
      vi.advanceTimersByTime(30_000);
      expect(await client.closed).toBe(4401);
      vi.useRealTimers();
    },
  );
});

describe('MCP', () => {
  const toolsOf = async (kit: ServerKit, headers: Record<string, string>) => {
    const url = new URL(`http://127.0.0.1:${kit.port}/mcp`);
    const client = await connected(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    const { tools } = await client.listTools();
    await client.close();
    return tools.map(({ name }) => name);
  };

  it('gives a token of one agent the tools of that agent, and those of no other', async () => {
    const kit = await world();
    const headers = await tokenFor(kit, { agents: ['ada'] });
    expect(await toolsOf(kit, headers)).toContain('memory_search');
    const forged = [{ 'X-Agent-Id': 'bob' }, { 'X-Agent-Session-Id': 'root' }];
    for (const header of forged)
      await expect(toolsOf(kit, { ...headers, ...header })).rejects.toThrow(/There is no (agent|session)/);
  });

  it('gives no memory of the agent that a session names, when the token does not reach that agent', async () => {
    const kit = await world();
    const headers = await tokenFor(kit, { roots: ['root'] });
    const tools = await toolsOf(kit, { ...headers, 'X-Agent-Session-Id': 'child' });
    expect(tools).toContain('state_get');
    expect(tools).not.toContain('memory_search');
    await expect(toolsOf(kit, headers)).rejects.toThrow(/Name an agent/);
  });

  it('gives a token for reading the tools that change nothing', async () => {
    const kit = await world();
    const headers = await tokenFor(kit, { roots: ['root'], session: 'child', mayWrite: false });
    const tools = await toolsOf(kit, headers);
    expect(tools).toContain('state_get');
    const writing = /set|increment|append|delete|save|update|remember|forget|pin/;
    expect(tools.filter((name) => writing.test(name))).toEqual([]);
  });
});

describe('the host’s own authentication', () => {
  it('decides before tokens are looked at, and a token still counts where it knows nobody', async () => {
    const ada: Principal = { name: 'ada', agents: ['ada'], roots: [], session: null, mayWrite: false };
    const kit = await world({
      authenticate: ({ headers }) => (headers['x-user'] === 'ada' ? ada : null),
    });
    const user = { 'X-User': 'ada', Authorization: null };
    expect((await kit.get('/agents', user)).json['agents']).toHaveLength(1);
    expect((await kit.get('/agents', { ...user, 'X-User': 'eve' })).status).toBe(401);
    expect((await kit.get('/agents')).json['agents']).toHaveLength(2);
  });

  it('that fails is an error of the server, and lets nobody in', async () => {
    const broken = await serverKit({
      authenticate: () => {
        throw new Error('the directory is down');
      },
    }).catch((thrown: unknown) => String(thrown));
    expect(broken).toContain('"status":500');
    expect(broken).not.toContain('the directory is down');
  });
});

describe('the list of tokens', () => {
  const SCOPE: TokenScope = { ...NOTHING, agents: ['ada'] };

  it('holds no token, and a revoked or replaced one ends', async () => {
    const backend = new MemoryStorage();
    const book = new TokenBook(backend);
    const made = await book.create(SCOPE);
    expect(made.token).toMatch(/^rk_[0-9a-f]{12}_\S{32}$/);
    expect(JSON.stringify(await backend.documents.read(['server', 'tokens.json']))).not.toContain(made.token);
    expect(await book.principalOf(made.token)).toMatchObject({ agents: ['ada'], roots: [], mayWrite: true });
    const next = await book.rotate(made.id);
    expect(await book.principalOf(made.token)).toBeNull();
    expect(await book.principalOf(next.token)).toMatchObject({ agents: ['ada'] });
    await book.revoke(next.id);
    expect(await book.principalOf(next.token)).toBeNull();
    expect(await book.list()).toEqual([]);
    await expect(book.revoke(next.id)).rejects.toMatchObject({ code: 'TOKEN_NOT_FOUND' });
  });

  it('refuses a secret of another token, and a token past its end', async () => {
    const clock = new ManualClock(1_000_000);
    const book = new TokenBook(new MemoryStorage(), clock);
    const [one, two] = [await book.create(SCOPE, clock.nowMs() + 5_000), await book.create(SCOPE)];
    const mixed = `${one.token.slice(0, 16)}${two.token.slice(16)}`;
    expect(await book.principalOf(mixed)).toBeNull();
    expect(await book.principalOf(one.token)).not.toBeNull();
    clock.advance(5_000);
    expect(await book.principalOf(one.token)).toBeNull();
    expect(await book.list()).toMatchObject([{ id: one.id, hasExpired: true }, { hasExpired: false }]);
  });

  it('gives a new token to a server that has just looked, and takes a revoked one from it within a second', async () => {
    const backend = new MemoryStorage();
    const [server, cli] = [new TokenBook(backend), new TokenBook(backend)];
    const first = await cli.create(SCOPE);
    expect(await server.principalOf(first.token)).not.toBeNull();
    const second = await cli.create(SCOPE);
    await vi.waitFor(async () => expect(await server.principalOf(second.token)).not.toBeNull(), 500);
    await cli.revoke(first.id);
    await vi.waitFor(async () => expect(await server.principalOf(first.token)).toBeNull(), 1_500);
  });

  it('takes what two processes write at once', async () => {
    const backend = new MemoryStorage();
    const books = Array.from({ length: 5 }, () => new TokenBook(backend));
    await Promise.all(books.map((book) => book.create(SCOPE)));
    expect(await books[0]!.list()).toHaveLength(5);
  });

  it.each([
    ['a scope that reaches nothing', NOTHING, null, 'INVALID_ARGUMENT'],
    ['a name that cannot be', { ...NOTHING, agents: ['../x'] }, null, 'INVALID_NAME'],
    ['an end that is past', SCOPE, 1, 'INVALID_ARGUMENT'],
  ])('refuses %s', async (_, scope, expiresMs, code) => {
    const book = new TokenBook(new MemoryStorage());
    await expect(book.create(scope, expiresMs)).rejects.toMatchObject({ code });
    expect(await book.list()).toEqual([]);
  });
});
