/** Random kill -9 on a real store: a child writes until it is killed; then everything it was told must be there. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../src/core/errors.js';
import { isStorageUrl, openStorage } from '../../src/storage/open-storage.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { postgresMissing } from '../support/postgres-cluster.js';
import { type StorePlaces, storePlaces } from '../support/store-places.js';
import { buildChildren, startChild } from './child-build.js';
import { type FaultOptions, type FaultSuite, FaultTally, progress, withTempFolder } from './fault-suite.js';
import type { KnownRecord } from './known-records.js';
import { KnownStore } from './known-store.js';

/** A store is continued by this many writers, then a new one is begun: reading all of it grows with its age. */
const ROUNDS_PER_STORE = 12;
const KILL_WITHIN_MS = 120;

export const kills: FaultSuite = {
  title: 'its process is killed at a random moment',
  defaultCount: 300,
  run,
};

function run(options: FaultOptions) {
  return withTempFolder(async (folder) => {
    const build = path.join(folder, 'build');
    await fs.mkdir(build);
    await buildChildren(build);
    const tally = new FaultTally();
    const places = await storePlaces(options.storage ?? 'file', folder, options.seed);
    if (places === null) return { ...tally.report(), skipped: postgresMissing() };
    try {
      await allKills(build, places, options, tally);
    } finally {
      await places.close();
    }
    return tally.report();
  });
}

async function allKills(
  build: string,
  places: StorePlaces,
  options: FaultOptions,
  tally: FaultTally,
): Promise<void> {
  const random = new SeededRandom(options.seed);
  const tell = progress(options.log);
  let done = 0;
  const goesOn = () => done < options.count && !tally.isEnough(options);
  while (goesOn()) {
    const place = places.fresh();
    const known = new KnownStore(options.seed, tally);
    for (let round = 0; round < ROUNDS_PER_STORE && goesOn(); round += 1, done += 1) {
      await oneKill({ build, place, round, known, random, tally, options });
      tell(() => `${done} of ${options.count} kills, ${tally.counts['acknowledged']} records acknowledged`);
    }
    if (!isStorageUrl(place)) tally.add('temporary files left', await countTemporary(place));
    await places.remove(place);
  }
}

interface Kill {
  readonly build: string;
  readonly place: string;
  readonly round: number;
  readonly known: KnownStore;
  readonly random: SeededRandom;
  readonly tally: FaultTally;
  readonly options: FaultOptions;
}

async function oneKill({ build, place, round, known, random, tally, options }: Kill): Promise<void> {
  const { seed, plant } = options;
  const from = [seed, round, known.documentStarted, Math.max(0, ...known.blobs.keys())];
  const child = startChild(build, 'kill-child.js', [place, ...from.map(String), plant ?? '']);
  try {
    await child.line((line) => line.startsWith('rec '));
  } catch (thrown) {
    tally.violation(`round ${round}: ${messageOf(thrown)}`);
    return;
  }
  await sleep(random.below(KILL_WITHIN_MS));
  child.kill('SIGKILL');
  await child.ended;
  tally.add('kills');
  tally.expect(child.errors.length === 0, () => `the child complained: ${child.errors.join(' | ')}`);
  known.hear(round, child.lines);
  await verify(place, known, random, tally);
}

/** Reads everything, as the next owner or as a mere reader. */
async function verify(
  place: string,
  known: KnownStore,
  random: SeededRandom,
  tally: FaultTally,
): Promise<void> {
  const storage = openStorage(place);
  try {
    const owns = random.below(2) === 0;
    const lease = owns ? await storage.leases.acquire(['agent']) : null;
    tally.expect(lease?.takenOver !== false, () => 'a killed owner was taken for one that released');
    const options = lease ? { lease } : { readOnly: true };
    const journal = await storage.openJournal<KnownRecord>(['agent', 'traces'], options);
    tally.add('torn tails', journal.openingDamage().length);
    await known.checkJournal(journal);
    await known.checkFiles(storage);
    await journal.close();
    await lease?.release();
  } catch (thrown) {
    tally.violation(`the store cannot be opened or read: ${messageOf(thrown)}`);
  } finally {
    await storage.close();
  }
}

async function countTemporary(root: string): Promise<number> {
  const names = await fs.readdir(root, { recursive: true });
  return names.filter((name) => path.basename(name).startsWith('.tmp-')).length;
}
