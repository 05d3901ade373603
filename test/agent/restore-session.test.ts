/** The agents of a session, brought back together. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Agent } from '../../src/agent/agent.js';
import { createAgent } from '../../src/agent/factory/agent-factory.js';
import { restoreSession } from '../../src/agent/factory/restore-session.js';
import { ScriptedModel } from '../../src/agent/model/scripted-model.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import {
  type Session,
  type SessionAgent,
  SessionManager,
} from '../../src/workspace/sessions/session-manager.js';
import { outline } from './agent-fixture.js';

const PAIR = [
  { name: 'analyst', agentId: 'ada' },
  { name: 'writer', agentId: 'eve' },
] as const;

/** Agents that said something and are gone, and the session that knows them. */
async function interrupted(agents: readonly SessionAgent[] = PAIR) {
  const storage = new MemoryStorage();
  for (const agentId of ['ada', 'eve']) {
    const agent = createAgent({ agentId, storage, model: new ScriptedModel([{ text: `I am ${agentId}.` }]) });
    await agent.start();
    await agent.send('Who are you?');
    await agent.stop();
  }
  const sessions = new SessionManager(storage);
  const { id } = await sessions.create({ agents });
  await sessions.close();
  return { storage, session: (await sessions.get(id))! };
}

const config = (storage: MemoryStorage) => ({ storage, model: new ScriptedModel([{ text: 'Still here.' }]) });

/** Ids of agents that can be started, because nobody runs them. */
async function free(storage: MemoryStorage): Promise<string[]> {
  const held = await Promise.all(['ada', 'eve'].map((id) => storage.leases.inspect(['agents', id])));
  return ['ada', 'eve'].filter((_, index) => held[index] === null);
}

function stopAll(agents: Map<string, Agent>): void {
  onTestFinished(async () => {
    for (const agent of agents.values()) await agent.stop({ graceMs: 0 });
  });
}

describe('restoreSession', () => {
  it('gives the agents back by their names, started, with what they knew', async () => {
    const { storage, session } = await interrupted();
    const agents = await restoreSession(session, () => config(storage));
    stopAll(agents);
    expect([...agents].map(([name, agent]) => [name, agent.agentId, agent.status])).toEqual([
      ['analyst', 'ada', 'idle'],
      ['writer', 'eve', 'idle'],
    ]);
    expect(outline(agents.get('writer')!.messages)).toContain('assistant: I am eve.');
    expect((await agents.get('analyst')!.send('And now?')).text).toBe('Still here.');
    expect(await free(storage)).toEqual([]);
  });

  it('has nothing to do for a session without agents', async () => {
    const { storage, session } = await interrupted([]);
    const never = () => {
      throw new Error('was asked');
    };
    expect((await restoreSession(session, never)).size).toBe(0);
    expect(await free(storage)).toEqual(['ada', 'eve']);
  });

  it.each<[string, SessionAgent]>([
    ['AGENT_NOT_FOUND', { name: 'ghost', agentId: 'nobody' }],
    ['AGENT_NOT_FOUND', { name: 'ghost', agentId: '' }],
    ['INVALID_NAME', { name: 'ghost', agentId: '../x' }],
    ['LEASE_HELD', { name: 'again', agentId: 'ada' }],
  ])('stops those that were started, and tells %s, when one is %j', async (code, bad) => {
    const { storage, session } = await interrupted([...PAIR, bad]);
    await expect(restoreSession(session, () => config(storage))).rejects.toMatchObject({ code });
    expect(await free(storage)).toEqual(['ada', 'eve']);
  });

  it('starts none of two agents that have one name', async () => {
    const { storage, session } = await interrupted();
    const twice: Session = { ...session, agents: [PAIR[0], { name: 'analyst', agentId: 'eve' }] };
    await expect(restoreSession(twice, () => config(storage))).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    });
    expect(await free(storage)).toEqual(['ada', 'eve']);
  });

  it('stops those that were started when the host has no configuration for one', async () => {
    const { storage, session } = await interrupted();
    const configFor = (name: string) => {
      if (name === 'writer') throw new TypeError('unknown role');
      return config(storage);
    };
    await expect(restoreSession(session, configFor)).rejects.toThrow('unknown role');
    expect(await free(storage)).toEqual(['ada', 'eve']);
  });

  it('tells the first error, and stops the others, when one cannot be stopped', async () => {
    const { storage, session } = await interrupted([...PAIR, { name: 'ghost', agentId: 'nobody' }]);
    const failing = new Set<string>();
    const release = storage.leases.acquire.bind(storage.leases);
    storage.leases.acquire = async (name, options) => {
      const lease = await release(name, options);
      if (name.at(-1) !== 'ada') return lease;
      const broken = async () => {
        failing.add('ada');
        await lease.release();
        throw new TypeError('the disk is gone');
      };
      return Object.create(lease, { release: { value: broken } });
    };
    await expect(restoreSession(session, () => config(storage))).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
    });
    expect([...failing]).toEqual(['ada']);
    expect(await free(storage)).toEqual(['ada', 'eve']);
  });
});
