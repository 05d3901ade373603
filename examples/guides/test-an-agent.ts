/**
 * Tests of an agent, without a network and without a disk. `node:test` runs them; Vitest and Jest work the same way.
 *
 *     npx tsx examples/guides/test-an-agent.ts
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FileStorage,
  MemoryStorage,
  openAgent,
  RekindleError,
  ScriptedModel,
  type StorageBackend,
} from '../../src/index.js';
import { faultyStorage, SimulatedDisk } from '../../src/storage/testing/index.js';

/** What is tested: your program opens its agent here. The model and the storage are given. */
function openDesk(model: ScriptedModel, storage: StorageBackend) {
  return openAgent('desk', {
    model,
    storage,
    systemPrompt: 'You are an order desk.',
    tools: [
      {
        name: 'look_up_order',
        description: 'Where an order is.',
        inputSchema: { type: 'object', properties: { order: { type: 'integer' } }, required: ['order'] },
        idempotent: true,
        execute: ({ order }) => ({ order, status: 'on its way' }),
      },
    ],
  });
}

/** The process after the power cut: the one before it is gone. */
const identity = {
  owner: () => ({ pid: 2, processStart: null, host: 'a', nonce: 'b' }),
  state: () => 'gone' as const,
};

const lookUp = { calls: [{ name: 'look_up_order', arguments: { order: 4711 } }] };

test('the model gets the result of the tool', async () => {
  const model = new ScriptedModel([lookUp, { text: 'It is on its way.' }]);
  const desk = await openDesk(model, new MemoryStorage());
  assert.equal((await desk.send('Where is 4711?')).text, 'It is on its way.');
  await desk.stop();

  model.assertDone(); // all answers of the script were asked for
  const [, second] = model.requests;
  assert.match(JSON.stringify(second!.messages.at(-1)), /on its way/);
});

test('a full disk fails the turn, and the agent continues when there is space', async () => {
  let isFull = false;
  const storage = faultyStorage(new MemoryStorage(), ({ operation }) =>
    isFull && operation === 'journal.append'
      ? { kind: 'fail', error: new RekindleError('STORAGE_FULL', 'The disk is full.') }
      : null,
  );
  const desk = await openDesk(new ScriptedModel([{ text: 'Hello.' }]), storage);
  isFull = true;
  await assert.rejects(desk.send('Hi'), { code: 'STORAGE_FULL' });
  isFull = false;
  assert.equal((await desk.send('Hi')).text, 'Hello.');
  await desk.stop();
});

test('whatever a power cut leaves of a turn, the agent opens and answers', async () => {
  const disk = new SimulatedDisk({ folders: ['/memory'] }); // keeps what was not synced apart
  const storage = new FileStorage('/memory', { fileSystem: disk, clock: disk.clock });
  const desk = await openDesk(new ScriptedModel([lookUp, { text: 'It is on its way.' }]), storage);
  await desk.send('Where is 4711?');
  await desk.stop();

  let states = 0;
  for (const state of disk.crashStates({ perPoint: 2, skip: (point) => point % 4 > 0 })) {
    const fileSystem = disk.reboot(state);
    const rebooted = new FileStorage('/memory', { fileSystem, clock: disk.clock, identity });
    const again = await openDesk(new ScriptedModel([{ text: 'Here I am.' }]), rebooted);
    assert.equal((await again.send('Are you there?')).text, 'Here I am.');
    await again.stop();
    states += 1;
  }
  console.log(`the agent answered on more than 20 disks: ${states > 20}`);
  assert.ok(states > 20);
});
