/**
 * An owner is suspended before each of its file operations in turn, another takes over and appends, the first wakes: whatever
 * the moment, nothing that was acknowledged is lost, doubled or reordered, and the next owner can go on.
 */
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/core/clock.js';
import { isRekindleError } from '../../../src/core/errors.js';
import type { JsonObject } from '../../../src/core/json.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import type { Journal, Lease } from '../../../src/storage/ports.js';
import { SeededRandom } from '../../../src/storage/simulated/seeded-random.js';
import { type Pause, PausedFileSystem } from './paused-file-system.js';

const TTL_MS = 1_000;
const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();
const seed = Number(process.env['REKINDLE_SEED'] ?? Date.now() % 2 ** 31);
/** Pairs of moments for each scene; more for a long run. */
const pairs = Number(process.env['REKINDLE_PAIRS'] ?? 60);
/** Rounds at a time: each has its own folder, owners and clock, and waits for the system for most of its time. */
const TOGETHER = 8;

interface Owner {
  readonly lease: Lease;
  readonly journal: Journal<JsonObject>;
}

/** One folder, its owners, and what each was told. */
class Agent {
  readonly root: string;
  readonly clock = new ManualClock(Date.now());
  /** Sequence number to what was acknowledged under it. */
  readonly acknowledged = new Map<number, string>();
  readonly problems: string[] = [];
  readonly #stores: FileStorage[] = [];

  constructor(root: string) {
    this.root = root;
  }

  store(fileSystem?: PausedFileSystem, segmentBytesMax = 1 << 20): FileStorage {
    const options = { clock: this.clock, segmentBytesMax };
    const store = new FileStorage(this.root, fileSystem ? { ...options, fileSystem } : options);
    this.#stores.push(store);
    return store;
  }

  async own(store: FileStorage): Promise<Owner> {
    const lease = await this.#takenOver(store);
    return { lease, journal: await store.openJournal<JsonObject>(['traces'], { lease }) };
  }

  /** The owner before may beat once more between the step of the clock and the look at it. */
  async #takenOver(store: FileStorage): Promise<Lease> {
    for (let tries = 1; ; tries += 1) {
      this.clock.advance(TTL_MS + 1);
      try {
        return await store.leases.acquire(['agent'], { ttlMs: TTL_MS });
      } catch (thrown) {
        if (tries === 5 || !isRekindleError(thrown, 'LEASE_HELD')) throw thrown;
      }
    }
  }

  async append(owner: Owner, text: string): Promise<void> {
    const { seq } = await owner.journal.append([{ text }]);
    const before = this.acknowledged.get(seq);
    if (before !== undefined) this.problems.push(`${seq} was acknowledged as ${before} and as ${text}`);
    this.acknowledged.set(seq, text);
  }

  /** Waits for an owner that may have been fenced off; anything else is a problem. */
  async settle(doing: Promise<unknown>): Promise<void> {
    await doing.catch((thrown: unknown) => {
      if (!isRekindleError(thrown, 'LEASE_LOST') && !isRekindleError(thrown, 'LEASE_HELD')) {
        this.problems.push(String(thrown));
      }
    });
  }

  /** What a fresh reader finds must contain all that was acknowledged, under its number. */
  async verify(): Promise<string[]> {
    const found = new Map<number, string>();
    const reader = await this.store().openJournal<JsonObject>(['traces'], { readOnly: true });
    for await (const entry of reader.read({ archived: true })) {
      if (entry.kind === 'record') found.set(entry.seq, String(entry.record['text']));
      else if (entry.reason !== 'after-seal') this.problems.push(`damage: ${entry.reason} in ${entry.place}`);
    }
    for (const [seq, text] of this.acknowledged) {
      if (found.get(seq) !== text)
        this.problems.push(`${seq} was acknowledged as ${text}, is ${found.get(seq)}`);
    }
    const seqs = [...found.keys()];
    if (seqs.some((seq, index) => seq !== index + 1)) this.problems.push(`numbers ${seqs.join(' ')}`);
    for (const store of this.#stores) await store.close().catch(() => {});
    return this.problems;
  }
}

interface Scene {
  readonly title: string;
  readonly segmentBytesMax: number;
  /** What happened before the owner came that will be suspended. */
  readonly before: (agent: Agent) => Promise<void>;
  /** What that owner does. */
  readonly act: (agent: Agent, store: FileStorage, name: string) => Promise<void>;
}

async function takeOverAndAppend(agent: Agent, store: FileStorage, name: string): Promise<void> {
  const owner = await agent.own(store);
  await agent.append(owner, `${name}1`);
  await agent.append(owner, `${name}2`);
}

/** An owner that fails although it has the lease is a problem. */
async function takeOverWhileHeld(agent: Agent, store: FileStorage, name: string): Promise<void> {
  let owner: Owner | null = null;
  try {
    owner = await agent.own(store);
    await agent.append(owner, `${name}1`);
    await agent.append(owner, `${name}2`);
  } catch (thrown) {
    if (isRekindleError(thrown, 'LEASE_HELD') || isRekindleError(thrown, 'LEASE_LOST')) {
      if (!owner || !(await isHeld(owner.lease))) return;
    }
    agent.problems.push(`the rightful owner failed: ${String(thrown)}`);
  }
}

async function isHeld(lease: Lease): Promise<boolean> {
  return lease.check().then(
    () => true,
    () => false,
  );
}

async function twoRecords(agent: Agent): Promise<void> {
  const first = await agent.own(agent.store());
  await agent.append(first, 'a1');
  await agent.append(first, 'a2');
}

const SCENES: readonly Scene[] = [
  { title: 'it takes over and seals', segmentBytesMax: 1 << 20, before: twoRecords, act: takeOverAndAppend },
  {
    title: 'it begins the journal',
    segmentBytesMax: 1 << 20,
    before: async () => {},
    act: takeOverAndAppend,
  },
  { title: 'it rotates with each record', segmentBytesMax: 0, before: twoRecords, act: takeOverAndAppend },
  {
    title: 'it continues after a released owner',
    segmentBytesMax: 1 << 20,
    before: async (agent) => {
      const first = await agent.own(agent.store());
      await agent.append(first, 'a1');
      await first.journal.close();
      await first.lease.release();
    },
    act: takeOverAndAppend,
  },
  {
    title: 'it mends a torn tail',
    segmentBytesMax: 1 << 20,
    before: async (agent) => {
      const first = await agent.own(agent.store());
      await agent.append(first, 'a1');
      await first.journal.close();
      await first.lease.release();
      await fs.appendFile(path.join(agent.root, 'traces.jsonl'), '{"text":"to');
    },
    act: takeOverAndAppend,
  },
  {
    title: 'it meets a torn header',
    segmentBytesMax: 0,
    before: async (agent) => {
      await twoRecords(agent);
      const live = path.join(agent.root, 'traces.jsonl');
      const header = (await fs.readFile(live, 'latin1')).slice(0, 30);
      const second = await agent.own(agent.store());
      await agent.append(second, 'b1');
      await fs.writeFile(live, header); // of an append that was not told: b1 is forgotten below
      agent.acknowledged.delete(3);
    },
    act: takeOverAndAppend,
  },
  {
    title: 'it archives',
    segmentBytesMax: 0,
    before: twoRecords,
    act: async (agent, store, name) => {
      const owner = await agent.own(store);
      await agent.append(owner, `${name}1`);
      await owner.journal.archiveBefore(3);
      await agent.append(owner, `${name}2`);
    },
  },
];

/** Runs the scene with its owner suspended after `count` operations; false when it made fewer. */
async function suspendedOnce(scene: Scene, count: number): Promise<{ reached: boolean; problems: string[] }> {
  return inFolder(async (agent) => {
    await scene.before(agent);
    const disk = new PausedFileSystem();
    const pause = disk.pauseAfterCalls(count);
    const acting = agent.settle(scene.act(agent, agent.store(disk, scene.segmentBytesMax), 'b'));
    const reached = await first(pause, acting);
    await agent.settle(takeOverAndAppend(agent, agent.store(), 'c'));
    pause.goOn();
    await acting;
    await takeOverAndAppend(agent, agent.store(), 'd');
    return { reached, problems: await agent.verify() };
  });
}

/** Two owners are suspended, each where a number says; a third goes on; then they wake in turn. */
async function suspendedTwice(scene: Scene, one: number, two: number, swapped: boolean): Promise<string[]> {
  return inFolder(async (agent) => {
    await scene.before(agent);
    const disks = [new PausedFileSystem(), new PausedFileSystem()];
    const pauses = [disks[0]!.pauseAfterCalls(one), disks[1]!.pauseAfterCalls(two)];
    const acting: Promise<void>[] = [];
    for (const [index, name] of ['b', 'c'].entries()) {
      acting.push(agent.settle(scene.act(agent, agent.store(disks[index]!, scene.segmentBytesMax), name)));
      await first(pauses[index]!, acting[index]!);
    }
    await agent.settle(takeOverAndAppend(agent, agent.store(), 'd'));
    for (const index of swapped ? [1, 0] : [0, 1]) {
      pauses[index]!.goOn();
      await acting[index];
    }
    await takeOverAndAppend(agent, agent.store(), 'e');
    return agent.verify();
  });
}

/** An owner wakes while the next one is in the middle of its first appends: as long as that one has the lease, these succeed. */
async function wokenMidway(scene: Scene, one: number, two: number): Promise<string[]> {
  return inFolder(async (agent) => {
    await scene.before(agent);
    const disks = [new PausedFileSystem(), new PausedFileSystem()];
    const pauses = [disks[0]!.pauseAfterCalls(one), disks[1]!.pauseAfterCalls(two)];
    const old = agent.settle(scene.act(agent, agent.store(disks[0], scene.segmentBytesMax), 'b'));
    await first(pauses[0]!, old);
    const rightful = takeOverWhileHeld(agent, agent.store(disks[1], scene.segmentBytesMax), 'c');
    await first(pauses[1]!, rightful);
    pauses[0]!.goOn();
    await old;
    pauses[1]!.goOn();
    await rightful;
    await takeOverAndAppend(agent, agent.store(), 'd');
    return agent.verify();
  });
}

async function first(pause: Pause, acting: Promise<unknown>): Promise<boolean> {
  return Promise.race([pause.reached.then(() => true), acting.then(() => false)]);
}

async function inFolder<T>(run: (agent: Agent) => Promise<T>): Promise<T> {
  const root = await fs.mkdtemp(path.join(MEMORY, 'rekindle-pause-'));
  try {
    return await run(new Agent(root));
  } finally {
    await fs.rm(root, { recursive: true, force: true });
  }
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Runs all rounds, some at a time. */
async function together<T>(rounds: readonly T[], run: (round: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < rounds.length; from += TOGETHER) {
    await Promise.all(rounds.slice(from, from + TOGETHER).map(run));
  }
}

describe('an owner that is suspended before any of its file operations harms nothing', () => {
  for (const scene of SCENES) {
    it(`when ${scene.title}`, { timeout: 60_000 }, async () => {
      const failed: string[] = [];
      for (let from = 0, ended = false; !ended; from += TOGETHER) {
        await together(numbers(TOGETHER), async (index) => {
          const { reached, problems } = await suspendedOnce(scene, from + index);
          if (problems.length > 0) failed.push(`after ${from + index} operations: ${problems.join('; ')}`);
          if (!reached) ended = true;
        });
      }
      expect(failed).toEqual([]);
    });
  }
});

describe('two owners that are suspended before any of their file operations harm nothing', () => {
  for (const scene of SCENES) {
    it(`when ${scene.title}`, { timeout: 10_000 + 1_000 * pairs }, async () => {
      const random = new SeededRandom(seed);
      const failed: string[] = [];
      const rounds = numbers(pairs).map(
        () => [random.below(60), random.below(70), random.below(2) === 1] as const,
      );
      await together(rounds, async ([one, two, swapped]) => {
        const problems = await suspendedTwice(scene, one, two, swapped);
        if (problems.length > 0) failed.push(`${one}, ${two}, ${swapped}: ${problems.join('; ')}`);
      });
      expect(failed, `REKINDLE_SEED=${seed}`).toEqual([]);
    });
  }
});

describe('an owner that wakes while the next one takes over does not stop it', () => {
  for (const scene of SCENES) {
    it(`when ${scene.title}`, { timeout: 10_000 + 1_000 * pairs }, async () => {
      const random = new SeededRandom(seed);
      const failed: string[] = [];
      const rounds = numbers(pairs).map(() => [random.below(60), random.below(70)] as const);
      await together(rounds, async ([one, two]) => {
        const problems = await wokenMidway(scene, one, two);
        if (problems.length > 0) failed.push(`${one}, ${two}: ${problems.join('; ')}`);
      });
      expect(failed, `REKINDLE_SEED=${seed}`).toEqual([]);
    });
  }
});
