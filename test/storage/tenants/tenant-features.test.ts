/** Every feature in a tenant, called with the names of another tenant: it reaches nothing. */
import { describe, expect, it } from 'vitest';
import { RekindleSessionStore } from '../../../src/adapters/claude-agent/index.js';
import { RekindleSession } from '../../../src/adapters/openai-agents/index.js';
import { erase } from '../../../src/agent/erasure/erase.js';
import { createAgent, restoreAgent } from '../../../src/agent/factory/agent-factory.js';
import { ScriptedModel } from '../../../src/agent/model/scripted-model.js';
import { CheckpointService } from '../../../src/checkpoints/checkpoint-service.js';
import { listAgents } from '../../../src/memory/maintenance/agent-summary.js';
import { TokenBook } from '../../../src/server/access/token-book.js';
import { startServer } from '../../../src/server/rekindle-server.js';
import { agentState } from '../../../src/state/durable/documents/agent-state.js';
import { StateManager } from '../../../src/state/durable/state-manager.js';
import { SharedSessions } from '../../../src/state/shared/shared-sessions.js';
import { SharedState } from '../../../src/state/shared/shared-state.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { withTenant } from '../../../src/storage/tenants/tenant-storage.js';
import { collect } from '../../../src/storage/testing/conformance-kit.js';
import { SessionManager } from '../../../src/workspace/sessions/session-manager.js';
import { ToolCallLog } from '../../../src/workspace/tool-calls/tool-call-log.js';
import { Workspace } from '../../../src/workspace/workspace.js';
import { ask, TOKEN } from '../../server/server-kit.js';

const SECRET = 'canary of acme';
const CALL = { callId: 'c', tool: 't', agent: 'desk', turnId: 'turn_0001', startedMs: 1, durationMs: 1 };

/** Uses every feature under fixed names, with a text in each. */
async function live(storage: StorageBackend, text: string): Promise<void> {
  const model = new ScriptedModel([{ text }]);
  const agent = createAgent({ agentId: 'desk', storage, systemPrompt: text, model });
  await agent.start();
  await agent.send(text);
  await agent.stop();
  const shared = new SharedSessions(storage);
  await shared.tree.create({ id: 'root', status: 'running' });
  await shared.close();
  const state = new SharedState(storage, { root: 'root' });
  await state.set('note', text);
  await state.close();
  const initial = { ...(agentState.initial as object), next_action: text };
  const states = await StateManager.open({ ...agentState, initial: initial as never, backend: storage });
  await states.load();
  await states.close();
  const workspace = new Workspace(storage);
  await workspace.write('note', { text });
  await workspace.close();
  const log = new ToolCallLog(storage);
  await log.record({ ...CALL, input: { text }, output: text, error: null });
  await log.close();
  const checkpoints = new CheckpointService({ backend: storage });
  await checkpoints.save({ sessionId: 's', context: { text } });
  await checkpoints.close();
  const sessions = new SessionManager(storage);
  await sessions.create({ id: 'sess' } as never);
  await sessions.close();
  const chat = new RekindleSession({ sessionId: 'chat', storage });
  await chat.addItems([{ type: 'message', role: 'user', content: text }]);
  await chat.close();
  const transcripts = new RekindleSessionStore({ storage });
  await transcripts.append({ projectKey: 'project', sessionId: 'chat' }, [{ type: 'user', text }]);
  await transcripts.close();
}

async function textOf(storage: StorageBackend): Promise<string> {
  const texts: string[] = [];
  for await (const { kind, name } of storage.contents([])) {
    texts.push(name.join('/'));
    if (kind === 'document')
      texts.push(Buffer.from((await storage.documents.readBytes(name)) ?? []).toString());
    if (kind === 'blobs')
      for await (const { digest } of storage.blobs(name).list())
        texts.push(digest, Buffer.from((await storage.blobs(name).get(digest)) ?? []).toString());
    if (kind !== 'journal') continue;
    const journal = await storage.openJournal(name, { readOnly: true });
    texts.push(JSON.stringify(await collect(journal.read({ archived: true }))));
    await journal.close();
  }
  return texts.join('\n');
}

describe('every feature of another tenant', () => {
  it('reads nothing under the same names, erases nothing, and changes no byte', async () => {
    const store = new MemoryStorage();
    const acme = withTenant(store, 'acme');
    const other = withTenant(store, 'other');
    await live(acme, SECRET);
    const before = await textOf(acme);
    expect(before.split(SECRET).length).toBeGreaterThan(8);

    const config = { storage: other, systemPrompt: 'x', model: new ScriptedModel([]) };
    await expect(restoreAgent('desk', config).start()).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    expect(await listAgents(other)).toStrictEqual([]);
    const shared = new SharedSessions(other);
    await expect(shared.tree.rootOf('root')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect(await shared.tree.list({})).toStrictEqual([]);
    await shared.close();
    const state = new SharedState(other, { root: 'root' });
    expect(await state.get('note')).toBeNull();
    await state.close();
    const workspace = new Workspace(other);
    expect(await workspace.read('note')).toBeNull();
    await workspace.close();
    const checkpoints = new CheckpointService({ backend: other });
    await expect(checkpoints.load({ sessionId: 's' })).rejects.toMatchObject({
      code: expect.stringMatching(/_NOT_FOUND$/),
    });
    await checkpoints.close();
    const chat = new RekindleSession({ sessionId: 'chat', storage: other });
    expect(await chat.getItems()).toStrictEqual([]);
    await chat.close();
    const transcripts = new RekindleSessionStore({ storage: other });
    expect(await transcripts.load({ projectKey: 'project', sessionId: 'chat' })).toBeNull();
    await transcripts.delete({ projectKey: 'project', sessionId: 'chat' });
    await transcripts.close();
    for (const target of [{ agent: 'desk' }, { session: 'root' }, { thread: 'chat' }])
      await expect(erase(other, target)).rejects.toMatchObject({
        code: expect.stringMatching(/_NOT_FOUND$/),
      });

    await live(other, 'of another');
    await erase(other, { agent: 'desk' });
    await erase(other, { session: 'root' });
    expect(await textOf(other)).not.toContain(SECRET);
    expect(await textOf(acme)).toBe(before);
  });

  it.each(['../acme', '..', 'tenants/acme', '../../tenants/acme/agents/desk', '..\\acme'])(
    'is not reached by the name %j of an agent, a session, an entry or a checkpoint',
    async (name) => {
      const store = new MemoryStorage();
      await live(withTenant(store, 'acme'), SECRET);
      const other = withTenant(store, 'other');
      const before = await textOf(store);
      const config = { storage: other, systemPrompt: 'x', model: new ScriptedModel([]) };
      const attempt = async (work: () => unknown) => {
        const got = await Promise.resolve()
          .then(work)
          .catch((thrown: { code?: string }) => ({ code: thrown.code ?? String(thrown) }));
        expect(JSON.stringify(got ?? null)).not.toContain(SECRET);
      };
      await attempt(() => restoreAgent(name, config).start());
      await attempt(() => erase(other, { agent: name }));
      await attempt(() => erase(other, { session: name }));
      await attempt(() => erase(other, { thread: name }));
      await attempt(async () => new SharedState(other, { root: name }).get('note'));
      await attempt(() => new Workspace(other).read(name));
      await attempt(() => new CheckpointService({ backend: other }).load({ sessionId: name }));
      await attempt(() => new RekindleSession({ sessionId: name, storage: other }).getItems());
      const key = { projectKey: name, sessionId: name, subpath: name };
      await attempt(() => new RekindleSessionStore({ storage: other }).load(key));
      expect(await textOf(store)).toBe(before);
    },
  );
});

describe('a server of a tenant', () => {
  it('has tokens, agents and sessions of its tenant alone', async () => {
    const store = new MemoryStorage();
    const [acme, other] = [withTenant(store, 'acme'), withTenant(store, 'other')];
    await live(acme, SECRET);
    const scope = { agents: ['desk'], roots: ['root'], session: null, mayWrite: true };
    const ofAcme = await new TokenBook(acme).create(scope);
    const ofOther = await new TokenBook(other).create(scope);
    const whole = await new TokenBook(store).create(scope);
    const servers = [];
    try {
      for (const backend of [acme, other, store])
        servers.push(await startServer({ backend, token: TOKEN, port: 0 }));
      const [acmePort, otherPort, storePort] = servers.map(({ port }) => port) as [number, number, number];
      const get = (port: number, target: string, token: string) =>
        ask(port, 'GET', target, { headers: { Authorization: `Bearer ${token}` } });
      expect((await get(acmePort, '/agents/desk', ofAcme.token)).status).toBe(200);
      expect((await get(acmePort, '/sessions/root', ofAcme.token)).status).toBe(200);
      for (const token of [ofOther.token, whole.token])
        expect((await get(acmePort, '/agents/desk', token)).status).toBe(401);
      for (const port of [otherPort, storePort]) {
        expect((await get(port, '/agents/desk', ofAcme.token)).status).toBe(401);
        // Its owner's token reaches everything of its own part, and nothing else.
        expect((await get(port, '/agents/desk', TOKEN)).status).toBe(404);
        expect((await get(port, '/sessions/root', TOKEN)).status).toBe(404);
        expect((await get(port, '/agents/..%2Facme%2Fagents%2Fdesk', TOKEN)).status).toBe(400);
        expect((await get(port, '/agents', TOKEN)).text).not.toContain('desk');
      }
    } finally {
      for (const server of servers) await server.close();
    }
  });
});
