/** The inbox of approvals: what waits for a person, listed and decided from outside the process that runs the agent. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { erase } from '../../../src/agent/erasure/erase.js';
import {
  type Agent,
  type AgentConfig,
  createAgent,
  decideApproval,
  restoreAgent,
  waitingApprovals,
} from '../../../src/agent/index.js';
import { ScriptedModel } from '../../../src/agent/model/scripted-model.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { withRedaction } from '../../../src/storage/redacted-storage.js';
import { agentFixture, callsWork, outline, storageAfterKill, tool } from '../agent-fixture.js';

const CALL = { agentId: 'ada', callId: 'call_1_1' };
const MINUTE = 60_000;

/** An agent in `storage` whose turn waits for an approval. */
async function waitingIn(storage: StorageBackend, config: Partial<AgentConfig> = {}) {
  let runs = 0;
  const agent = createAgent({
    agentId: 'ada',
    storage,
    model: new ScriptedModel([callsWork({ amount: 120 }), { text: 'ok' }]),
    tools: [tool({ needsApproval: true, execute: () => ++runs })],
    approve: 'inbox',
    ...config,
  });
  await agent.start();
  onTestFinished(() => agent.stop({ graceMs: 0 }).catch(() => {}));
  const turn = agent.send('Pay.');
  await expect.poll(async () => (await waitingApprovals(storage)).length).toBeGreaterThan(0);
  return { agent, turn, runs: () => runs };
}

function memoryStorage(): MemoryStorage {
  const storage = new MemoryStorage();
  onTestFinished(() => storage.close());
  return storage;
}

const resultIn = (agent: Agent) => outline(agent.messages).at(-2);

describe.each(['files', 'sqlite'])('a call that waits in the inbox, in %s', (kind) => {
  /** The place, opened twice: for the agent, and for the person. */
  async function places(): Promise<readonly [StorageBackend, StorageBackend]> {
    const { dir } = await agentFixture();
    const address = kind === 'files' ? dir : `sqlite:${dir}/store.db`;
    const both = [openStorage(address), openStorage(address)] as const;
    onTestFinished(async () => {
      for (const storage of both) await storage.close();
    });
    return both;
  }

  it('is listed with its arguments and their hash, and runs when a person approves it elsewhere', async () => {
    const [storage, elsewhere] = await places();
    const { agent, turn, runs } = await waitingIn(storage);
    const [waiting] = await waitingApprovals(elsewhere, 'ada');
    expect(waiting).toMatchObject({
      ...CALL,
      turnId: 'turn_0001',
      toolName: 'work',
      arguments: { amount: 120 },
      argumentsHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      expiresAt: null,
      decision: null,
    });
    expect(runs()).toBe(0);
    const { argumentsHash } = waiting!;
    const decided = await decideApproval(elsewhere, { ...CALL, approved: true, by: 'clerk', argumentsHash });
    expect(decided.decision).toMatchObject({ approved: true, by: 'clerk', reason: null });
    expect((await turn).text).toBe('ok');
    expect(runs()).toBe(1);
    expect(resultIn(agent)).toBe('result: 1');
    expect(await waitingApprovals(elsewhere)).toEqual([]);
    expect(await elsewhere.documents.list(['agents', 'ada', 'decisions'])).toEqual([]);
  });

  it('does not run when it is denied, and the model learns the reason', async () => {
    const [storage, elsewhere] = await places();
    const { agent, turn, runs } = await waitingIn(storage);
    await decideApproval(elsewhere, { ...CALL, approved: false, reason: 'Too much.' });
    await turn;
    expect(runs()).toBe(0);
    expect(resultIn(agent)).toBe('error: The call was not approved, so it did not run. Reason: Too much.');
  });
});

describe('a decision on a call', () => {
  it('is taken by the next process, if the one that asked has ended', async () => {
    const fixture = await agentFixture();
    const storage = openStorage(fixture.dir);
    onTestFinished(() => storage.close());
    const { agent } = await waitingIn(storage);
    await agent.stop({ graceMs: 0 });
    await decideApproval(storage, { ...CALL, approved: true, by: 'clerk' });
    const next = fixture.restored([{ text: 'Paid.' }], {
      storage: storageAfterKill(fixture.dir),
      tools: [tool({ needsApproval: true, execute: () => 'done' })],
      approve: () => Promise.reject(new Error('The host is not asked.')),
    });
    await next.start();
    expect((await next.resume()).text).toBe('Paid.');
    expect(resultIn(next)).toBe('result: "done"');
    expect(await fixture.rows('pending_calls')).toMatchObject([
      { event: 'approval_requested' },
      { event: 'approval_decided', approved: true, by: 'clerk' },
      { event: 'started' },
    ]);
  });

  it('counts beside the function of the host: the first one of the two', async () => {
    const storage = memoryStorage();
    let hostAborted = false;
    const approve: AgentConfig['approve'] = ({ signal }) => {
      signal.addEventListener('abort', () => (hostAborted = true));
      return new Promise(() => {});
    };
    const { turn, runs } = await waitingIn(storage, { approve });
    await decideApproval(storage, { ...CALL, approved: true });
    await turn;
    expect([runs(), hostAborted]).toEqual([1, true]);
  });

  it('of the host may have a name and a reason', async () => {
    const storage = memoryStorage();
    const model = new ScriptedModel([callsWork({}), { text: 'ok' }]);
    const agent = createAgent({
      agentId: 'ada',
      ...{ storage, model },
      tools: [tool({ needsApproval: true, execute: () => 1 })],
      approve: () => ({ approved: false, by: 'policy', reason: 'No budget.' }),
    });
    await agent.start();
    await agent.send('Pay.');
    expect(resultIn(agent)).toContain('Reason: No budget.');
    await agent.stop();
  });

  it('is refused if another one was stored, and the first stays', async () => {
    const storage = memoryStorage();
    const { agent } = await waitingIn(storage);
    await agent.stop({ graceMs: 0 }); // nobody takes it
    const decisions = await Promise.allSettled(
      [true, false].map((approved) => decideApproval(storage, { ...CALL, approved, by: String(approved) })),
    );
    const kept = decisions.find((one) => one.status === 'fulfilled');
    expect(decisions.filter((one) => one.status === 'rejected')).toMatchObject([
      { reason: { code: 'APPROVAL_NOT_WAITING', details: { reason: 'decided' } } },
    ]);
    const [waiting] = await waitingApprovals(storage);
    expect(waiting?.decision).toEqual(kept?.value.decision);
  });

  it.each<[string, object, object]>([
    [
      'of an unknown call',
      { callId: 'none' },
      { code: 'APPROVAL_NOT_WAITING', details: { reason: 'unknown' } },
    ],
    [
      'for other arguments than the person saw',
      { argumentsHash: 'ab'.repeat(32) },
      { code: 'APPROVAL_NOT_WAITING', details: { reason: 'changed' } },
    ],
    ['of an unknown agent', { agentId: 'none' }, { code: 'AGENT_NOT_FOUND' }],
    [
      'that is not true or false',
      { approved: 'yes' },
      { code: 'INVALID_ARGUMENT', details: { argument: 'approved' } },
    ],
    ['with a reason of 2,001 characters', { reason: 'x'.repeat(2_001) }, { code: 'INVALID_ARGUMENT' }],
    ['with half a character', { by: '\ud800' }, { code: 'INVALID_ARGUMENT', details: { argument: 'by' } }],
  ])('%s is refused, and nothing is written', async (_, change, error) => {
    const storage = memoryStorage();
    await waitingIn(storage);
    await expect(decideApproval(storage, { ...CALL, approved: true, ...change })).rejects.toMatchObject(
      error,
    );
    expect(await storage.documents.list(['agents', 'ada', 'decisions'])).toEqual([]);
  });

  it('is bound to the arguments: one that was stored for others does not count', async () => {
    const storage = memoryStorage();
    const { agent, runs } = await waitingIn(storage);
    await agent.stop({ graceMs: 0 });
    await decideApproval(storage, { ...CALL, approved: true });
    const folder = ['agents', 'ada', 'decisions'];
    const [key] = await storage.documents.list(folder);
    const stored = await storage.documents.read([...folder, key!]);
    const forged = { ...(stored!.value as object), arguments_sha256: 'ab'.repeat(32) };
    await storage.documents.write([...folder, key!], forged);
    expect(await waitingApprovals(storage)).toMatchObject([{ decision: null }]);
    await decideApproval(storage, { ...CALL, approved: false });
    expect(await waitingApprovals(storage)).toMatchObject([{ decision: { approved: false } }]);
    expect(runs()).toBe(0);
  });
});

describe('a request for an approval', () => {
  it('that expires counts as denied, and nothing runs', async () => {
    const { agent, turn, runs } = await waitingIn(memoryStorage(), { approvalExpiresMs: 200 });
    await turn;
    expect(runs()).toBe(0);
    expect(resultIn(agent)).toContain('Reason: Nobody decided in time.');
  });

  it('expires at the time of the first request, also after a restart', async () => {
    const storage = memoryStorage();
    const { agent } = await waitingIn(storage, { approvalExpiresMs: 10 * MINUTE });
    const [first] = await waitingApprovals(storage);
    expect(first!.expiresAt! - first!.requestedAt).toBeGreaterThan(9 * MINUTE);
    await agent.stop({ graceMs: 0 });
    const later = { nowMs: () => first!.expiresAt! + 1 };
    const next = createRestored(storage, { clock: later, approvalExpiresMs: 10 * MINUTE });
    await next.start();
    await next.resume();
    expect(resultIn(next)).toContain('Reason: Nobody decided in time.');
  });

  it('comes before later ones, also within the same millisecond', async () => {
    const { agent, turn } = await waitingIn(memoryStorage(), {
      model: new ScriptedModel([callsWork({ n: 1 }, { n: 2 }, { n: 3 }), { text: 'ok' }]),
      clock: { nowMs: () => 1_700_000_000_000 },
    });
    const { backend } = agent.memory.store;
    await expect.poll(async () => (await waitingApprovals(backend)).length).toBe(3);
    const waiting = await waitingApprovals(backend);
    expect(waiting.map((one) => one.arguments)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    for (const { callId } of waiting) await decideApproval(backend, { ...CALL, callId, approved: true });
    await turn;
  });

  it('is not listed any more when the conversation went on without the call', async () => {
    const storage = memoryStorage();
    const { agent } = await waitingIn(storage);
    await agent.stop({ graceMs: 0 });
    const next = createRestored(storage);
    await next.start();
    await next.send('Never mind.');
    expect(await waitingApprovals(storage)).toEqual([]);
  });

  it('goes with its turn when that is erased, and so does its decision', async () => {
    const storage = memoryStorage();
    const { agent } = await waitingIn(storage);
    await agent.stop({ graceMs: 0 });
    await decideApproval(storage, { ...CALL, approved: true, reason: 'The canary may go.' });
    await erase(storage, { agent: 'ada', turn: 1 });
    expect(await waitingApprovals(storage)).toEqual([]);
    expect(await storage.documents.list(['agents', 'ada', 'decisions'])).toEqual([]);
  });

  it('shows arguments as a redacting store holds them, and the tool gets them whole', async () => {
    const storage = withRedaction(memoryStorage());
    const key = `sk-ant-api03-${'aB3dE6gH9k'.repeat(9)}abc-AA`;
    const given: unknown[] = [];
    const { turn } = await waitingIn(storage, {
      model: new ScriptedModel([callsWork({ key }), { text: 'ok' }]),
      tools: [tool({ needsApproval: true, execute: (args) => given.push(args) })],
    });
    const [waiting] = await waitingApprovals(storage);
    expect(JSON.stringify(waiting)).not.toContain(key);
    await decideApproval(storage, { ...CALL, approved: true, argumentsHash: waiting!.argumentsHash });
    await turn;
    expect(given).toEqual([{ key }]);
  });
});

function createRestored(storage: StorageBackend, config: Partial<AgentConfig> = {}): Agent {
  const agent = restoreAgent('ada', {
    storage,
    model: new ScriptedModel([{ text: 'ok' }]),
    tools: [tool({ needsApproval: true, execute: () => 1 })],
    approve: 'inbox',
    ...config,
  });
  onTestFinished(() => agent.stop({ graceMs: 0 }).catch(() => {}));
  return agent;
}
