/** A branch, or a fork, that breaks off at any step: the agent does not exist then, or is whole, and doing it again gives the whole one. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { captureAgent } from '../../../src/agent/checkpoints/agent-image.js';
import { checkpointAgent } from '../../../src/agent/checkpoints/checkpoint-agent.js';
import { createAgent, restoreAgent } from '../../../src/agent/factory/agent-factory.js';
import { forkAgent } from '../../../src/agent/forks/fork-agent.js';
import { ScriptedModel } from '../../../src/agent/model/scripted-model.js';
import { CheckpointService } from '../../../src/checkpoints/checkpoint-service.js';
import { isRekindleError } from '../../../src/core/errors.js';
import type { JsonObject } from '../../../src/core/json.js';
import { listAgents } from '../../../src/memory/maintenance/agent-summary.js';
import { agentExists } from '../../../src/memory/open-memory.js';
import { StateManager } from '../../../src/state/durable/state-manager.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import type { FileSystem } from '../../../src/storage/file-system.js';
import { systemIdentity } from '../../../src/storage/process-identity.js';
import { type FaultyCall, FaultyFileSystem } from '../../../src/storage/simulated/faulty-file-system.js';
import { SimulatedDisk } from '../../../src/storage/simulated/simulated-disk.js';
import { counter } from '../../state/durable/counter.js';
import { answers, withoutName } from './branch-kit.js';

const CHECKPOINT = 'ada@1';
const WRITES: readonly FaultyCall[] = [
  'file.write',
  'file.datasync',
  'rename',
  'link',
  'unlink',
  'makeFolder',
  'syncFolder',
];

/** The storage of the next process: every other owner of a lease is gone. */
function storageOn(disk: FileSystem): FileStorage {
  const identity = { owner: systemIdentity.owner, state: () => 'gone' as const };
  const storage = new FileStorage('/store', { fileSystem: disk, identity });
  onTestFinished(() => storage.close());
  return storage;
}

/** A disk with `ada` and a checkpoint of her: a compaction with its items, an image, a document. */
async function saved(): Promise<{ readonly disk: SimulatedDisk; readonly image: JsonObject }> {
  const disk = new SimulatedDisk({ folders: ['/store'] });
  const storage = storageOn(disk);
  const memory = {
    compaction: { rawTailTurns: 1 },
    summarizer: {
      summarize: async () => ({ episodicSummary: 'They met.', semanticFacts: [{ fact: 'Tea is liked.' }] }),
    },
    tokenCounter: { countMessages: async (messages: readonly unknown[]) => messages.length },
  };
  const agent = createAgent({ agentId: 'ada', model: new ScriptedModel(answers(4)), storage, memory });
  await agent.start();
  for (let turn = 1; turn <= 3; turn += 1) await agent.send(`Question ${turn}.`);
  await agent.memory.compact();
  await agent.send({
    text: 'Look.',
    media: [{ kind: 'image', mime: 'image/png', data: Buffer.from([1, 2]) }],
  });
  await agent.stop();
  const state = await StateManager.open({ ...counter, backend: storage });
  await state.update((draft) => void (draft.count = 3));
  await state.close();
  const service = new CheckpointService({ backend: storage });
  await checkpointAgent(service, storage, 'ada');
  await service.close();
  return { disk, image: withoutName(await captureAgent(storage, 'ada')) };
}

type Begin = (storage: FileStorage) => Promise<void>;

/** Begins `branch` and stops it. @throws what the start throws */
async function branchOn(storage: FileStorage): Promise<void> {
  const config = { model: new ScriptedModel([]), storage };
  const agent = restoreAgent('branch', config, null, { fromCheckpoint: CHECKPOINT });
  try {
    await agent.start();
  } finally {
    await agent.stop().catch(() => {});
  }
}

async function forkOn(storage: FileStorage): Promise<void> {
  await forkAgent(storage, 'ada', { as: 'branch' });
}

const WAYS: readonly (readonly [string, Begin])[] = [
  ['branch of a checkpoint', branchOn],
  ['fork', forkOn],
];

/** What `branch` is; null when it does not exist, and is not shown. */
async function branchIn(storage: FileStorage): Promise<JsonObject | null> {
  const exists = await agentExists(storage, 'branch');
  const shown = (await listAgents(storage)).some(({ agentId }) => agentId === 'branch');
  expect(shown).toBe(exists);
  return exists ? withoutName(await captureAgent(storage, 'branch')) : null;
}

/** Begins it again, unless it is there already: then it is refused. */
async function finish(storage: FileStorage, begin: Begin): Promise<void> {
  const isThere = await agentExists(storage, 'branch');
  const thrown: unknown = await begin(storage).then(
    () => null,
    (error: unknown) => error,
  );
  if (isThere) expect(isRekindleError(thrown, 'AGENT_EXISTS')).toBe(true);
  else if (thrown !== null) throw thrown;
}

describe.each(WAYS)('a process that is killed while it begins a %s', (_, begin) => {
  /** Every state that the disk was in on the way. */
  async function states() {
    const { disk, image } = await saved();
    const from = disk.point;
    await begin(storageOn(disk));
    const points = Array.from({ length: disk.point - from + 1 }, (_, index) => from + index);
    return { disk, image, points };
  }

  it('leaves no agent, or the whole one', async () => {
    const { disk, image, points } = await states();
    const found: (JsonObject | null)[] = [];
    for (const point of points) found.push(await branchIn(storageOn(disk.killedAt(point))));
    const whole = found.filter((branch) => branch !== null);
    for (const branch of whole) expect(branch).toEqual(image);
    expect(found[0]).toBeNull();
    expect(whole.length).toBeGreaterThan(0);
  });

  it('leaves what the next one makes whole, with no memory twice', async () => {
    const { disk, image, points } = await states();
    for (const point of points) {
      const storage = storageOn(disk.killedAt(point));
      await finish(storage, begin);
      expect(await branchIn(storage)).toEqual(image);
    }
    expect(points.length).toBeGreaterThan(20);
  });
});

describe.each(WAYS)('a disk of which any one write fails while a %s begins', (_, begin) => {
  it.each(['half', 'all'] as const)(
    'gives a typed error or the whole agent, and the next one makes it whole (%s was done)',
    async (effect) => {
      const { disk: original, image } = await saved();
      const from = original.point;
      let k = 1;
      for (let injected = true; injected; k += 1) {
        const disk = new FaultyFileSystem(original.killedAt(from));
        disk.setFault({ at: k, kind: 'EIO', effect, only: (call) => WRITES.includes(call) });
        const storage = storageOn(disk);
        const thrown: unknown = await begin(storage).then(
          () => null,
          (error: unknown) => error,
        );
        injected = disk.injected > 0;
        disk.setFault(null);
        if (thrown !== null) expect(isRekindleError(thrown), String(thrown)).toBe(true);
        await finish(storage, begin);
        expect(await branchIn(storage), `write ${k}`).toEqual(image);
      }
      expect(k).toBeGreaterThan(20);
    },
  );
});
