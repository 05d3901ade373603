/**
 * Two processes and one agent. One is stopped past the life of its lease while it appends; the other takes over and
 * appends; then the first goes on. It must meet LEASE_LOST, and nothing that either was told may be lost.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRekindleError, messageOf } from '../../src/core/errors.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import type { Lease } from '../../src/storage/ports.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { buildChildren, type Child, startChild } from './child-build.js';
import { type FaultOptions, type FaultSuite, FaultTally, progress, withTempFolder } from './fault-suite.js';
import { type KnownRecord, knownRecord } from './known-records.js';
import { KnownStore } from './known-store.js';

const TTL_MS = 150;
const RUN_WITHIN_MS = 60;
const ROUNDS_PER_FOLDER = 10;

export const pauses: FaultSuite = {
  title: 'its owner is stopped past the life of its lease, and wakes',
  defaultCount: 100,
  run: (options) => run(options, 64 << 20),
};

export const pausesWhileSealing: FaultSuite = {
  title: 'its owner is stopped likewise, and most records begin a new segment',
  defaultCount: 100,
  run: (options) => run(options, 8 << 10),
};

function run(options: FaultOptions, segmentBytes: number) {
  return withTempFolder(async (folder) => {
    const build = path.join(folder, 'build');
    await fs.mkdir(build);
    await buildChildren(build);
    const tally = new FaultTally();
    const random = new SeededRandom(options.seed);
    const tell = progress(options.log);
    let done = 0;
    const goesOn = () => done < options.count && !tally.isEnough(options);
    while (goesOn()) {
      const root = path.join(folder, `store-${done}`);
      const known = new KnownStore(options.seed, tally);
      const settings = [root, options.seed, TTL_MS, segmentBytes, options.plant ?? ''].map(String);
      const child = startChild(build, 'pause-child.js', settings);
      for (let round = 0; round < ROUNDS_PER_FOLDER && goesOn(); round += 1, done += 1) {
        const storage = () => new FileStorage(root, { segmentBytesMax: segmentBytes });
        await onePause({ child, storage, round: 2 * round, known, random, tally, seed: options.seed });
        tell(
          () => `${done} of ${options.count} rounds, ${tally.counts['acknowledged']} records acknowledged`,
        );
      }
      child.kill('SIGKILL');
      await child.ended;
      await fs.rm(root, { recursive: true, force: true });
    }
    return tally.report();
  });
}

interface Round {
  readonly child: Child;
  readonly storage: () => FileStorage;
  readonly round: number;
  readonly known: KnownStore;
  readonly random: SeededRandom;
  readonly tally: FaultTally;
  readonly seed: number;
}

async function onePause({ child, storage: open, round, known, random, tally, seed }: Round): Promise<void> {
  const heard = child.lines.length;
  const since = (fits: (line: string) => boolean) => {
    return child.line((line) => child.lines.indexOf(line, heard) >= heard && fits(line));
  };
  const storage = open();
  let lease: Lease | null = null;
  try {
    child.send(`go ${round}`);
    await since((line) => line.startsWith('rec ') || line.startsWith('end '));
    await sleep(random.below(RUN_WITHIN_MS));
    child.kill('SIGSTOP');
    lease = await acquireWhenFree(storage);
    tally.expect(lease.takenOver, () => `round ${round}: the stopped owner was taken for one that released`);
    const journal = await storage.openJournal<KnownRecord>(['agent', 'traces'], { lease });
    const early = random.below(3); // woken before, between or after the first appends of the new owner
    for (let index = 0; index < 3; index += 1) {
      if (index === early) child.kill('SIGCONT');
      const { seq } = await journal.append([knownRecord(seed, round + 1, index)]);
      known.acknowledged(round + 1, index, seq);
    }
    const end = await since((line) => line.startsWith('end '));
    tally.add(end);
    tally.expect(end === 'end LEASE_LOST', () => `round ${round}: the woken owner ended with ${end}`);
    known.hear(round, child.lines.slice(heard));
    await known.checkJournal(journal);
    await journal.close();
    tally.add('rounds');
  } catch (thrown) {
    child.kill('SIGCONT');
    tally.violation(`round ${round}: ${messageOf(thrown)} ${child.errors.join(' | ')}`);
  } finally {
    await storage.close().catch(() => {});
    await lease?.release().catch(() => {});
  }
}

async function acquireWhenFree(storage: FileStorage): Promise<Lease> {
  for (const start = Date.now(); ; ) {
    try {
      return await storage.leases.acquire(['agent'], { ttlMs: 15_000 });
    } catch (thrown) {
      if (!isRekindleError(thrown, 'LEASE_HELD') || Date.now() - start > 20 * TTL_MS) throw thrown;
      await sleep(10);
    }
  }
}
