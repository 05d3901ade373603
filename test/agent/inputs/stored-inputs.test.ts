/** What else touches the journal of inputs: erasure, copies, checks, redaction. */
import { expect, it } from 'vitest';
import type { Agent } from '../../../src/agent/agent.js';
import { erase } from '../../../src/agent/erasure/erase.js';
import { InputQueue } from '../../../src/agent/inputs/input-queue.js';
import type { ScriptStep } from '../../../src/agent/model/scripted-model.js';
import { systemClock } from '../../../src/core/clock.js';
import type { JsonObject } from '../../../src/core/json.js';
import { copyAgent } from '../../../src/memory/maintenance/copy-agent.js';
import { verifyAgent } from '../../../src/memory/maintenance/verify-agent.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { AGENT_ID, type AgentFixture, agentFixture, outline } from '../agent-fixture.js';
import { inFiles } from '../erasure/canaries.js';

const DONE: ScriptStep[] = Array.from({ length: 9 }, () => ({ text: 'done' }));

/** An agent that took `red`, then `blue`; `green` waits. Stopped. */
async function stored(fixture: AgentFixture): Promise<void> {
  const agent = await fixture.started(DONE);
  for (const text of ['red', 'blue']) await agent.enqueue(`canary ${text}`, { id: text });
  await agent.runQueued();
  const waiting = new InputQueue(agent.memory, systemClock);
  await waiting.add('canary green', { id: 'green' });
  await agent.stop();
}

async function next(fixture: AgentFixture): Promise<Agent> {
  const agent = fixture.restored(DONE);
  await agent.start();
  return agent;
}

it('an erased turn leaves nothing of its input, and the others go on', async () => {
  const fixture = await agentFixture();
  await stored(fixture);
  const storage = new FileStorage(fixture.dir);
  await erase(storage, { agent: AGENT_ID, turn: 1 });
  await storage.close();
  expect(await inFiles(fixture.dir, ['canary red', 'canary blue', 'canary green'])).toEqual([
    'canary blue',
    'canary green',
  ]);
  const agent = await next(fixture);
  await agent.runQueued();
  expect(outline(agent.messages).filter((line) => line.startsWith('user'))).toEqual([
    'user: canary blue',
    'user: canary green',
  ]);
});

it('an erased message of an input whose end was not recorded does not come back', async () => {
  const fixture = await agentFixture();
  const agent = await fixture.started(DONE);
  const queue = new InputQueue(agent.memory, systemClock);
  await queue.add('canary red', { id: 'red' });
  await agent.memory.ingestQueuedInput(
    { role: 'user', content: 'canary red' },
    agent.memory.startTurn(),
    'red',
  );
  await agent.stop();
  const storage = new FileStorage(fixture.dir);
  await erase(storage, { agent: AGENT_ID, turn: 1 });
  await storage.close();
  expect(await inFiles(fixture.dir, ['canary red'])).toEqual([]);
  expect(await (await next(fixture)).queuedInputs()).toEqual([]);
});

it('an erased agent leaves no input', async () => {
  const fixture = await agentFixture();
  await stored(fixture);
  const storage = new FileStorage(fixture.dir);
  await erase(storage, { agent: AGENT_ID });
  await storage.close();
  expect(await inFiles(fixture.dir, ['canary red', 'canary blue', 'canary green'])).toEqual([]);
});

it('a copied agent has its inputs', async () => {
  const fixture = await agentFixture();
  await stored(fixture);
  const from = new FileStorage(fixture.dir);
  const to = new MemoryStorage();
  await copyAgent(from, to, AGENT_ID);
  await from.close();
  const agent = fixture.restored(DONE, { storage: to });
  await agent.start();
  expect((await agent.queuedInputs()).map(({ id }) => id)).toEqual(['green']);
  expect(await agent.enqueue('canary red', { id: 'red' })).toMatchObject({ state: 'taken' });
});

it('verify counts the records, and reports kinds that it does not know', async () => {
  const fixture = await agentFixture();
  await stored(fixture);
  const storage = new FileStorage(fixture.dir);
  const verdict = async () =>
    (await verifyAgent(storage, AGENT_ID)).journals.find(({ name }) => name === 'inputs');
  expect(await verdict()).toMatchObject({ records: 5, unknown: [] });
  const journal = await storage.openJournal<JsonObject>(['agents', AGENT_ID, 'inputs']);
  await journal.append([{ ts: 1, event: 'postponed', input_id: 'green' }]);
  await journal.close();
  expect(await verdict()).toMatchObject({ unknown: [{ type: 'postponed', seq: 6, count: 1 }] });
  await storage.close();
});
