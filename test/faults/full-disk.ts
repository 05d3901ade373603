/**
 * A small disk with less and less room, in steps of a page. Whatever fails must say so, what was acknowledged must stay, and
 * with more room everything must work again. Needs the right to mount; says so where it has none.
 */
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../src/core/errors.js';
import { NodeFileSystem } from '../../src/storage/file/node-file-system.js';
import { FaultyFileSystem } from '../../src/storage/simulated/faulty-file-system.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { ErrorWorkload } from './error-workload.js';
import { type FaultOptions, type FaultSuite, FaultTally, progress, withTempFolder } from './fault-suite.js';
import { LyingFileSystem } from './lying-file-system.js';

const PAGE_BYTES = 4_096;
const DISK_BYTES = 2 << 20;
/** Rooms that matter for a run of up to about 256 KiB. */
const PAGES_MAX = 64;
const command = promisify(execFile);

/** `count` is the number of sizes: the room grows from nothing by one page for each, and then over again with other records. */
export const fullDisk: FaultSuite = { title: 'its disk has too little room', defaultCount: 200, run };

function run(options: FaultOptions) {
  return withTempFolder(async (folder) => {
    const tally = new FaultTally();
    const disk = path.join(folder, 'disk');
    await fs.mkdir(disk);
    try {
      await command('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', disk]);
    } catch (thrown) {
      return {
        ...tally.report(),
        skipped: `mounting is not allowed here (${messageOf(thrown).split('\n')[0]})`,
      };
    }
    try {
      await allSizes(disk, options, tally);
    } finally {
      await command('umount', [disk]);
    }
    return tally.report();
  });
}

async function allSizes(disk: string, options: FaultOptions, tally: FaultTally): Promise<void> {
  const { count, seed, log } = options;
  const fileSystem = options.plant === 'lying-write' ? new LyingFileSystem() : new NodeFileSystem();
  const tell = progress(log);
  const random = new SeededRandom(seed);
  const stride = Math.max(1, Math.floor(PAGES_MAX / count));
  for (let step = 0; step < count && !tally.isEnough(options); step += 1) {
    const textRepeats = 50 + random.below(2_000);
    await oneSize(disk, fileSystem, ((step * stride) % PAGES_MAX) * PAGE_BYTES, textRepeats, tally);
    tell(() => `size ${step} of ${count}`);
  }
}

async function oneSize(
  disk: string,
  fileSystem: NodeFileSystem,
  room: number,
  textRepeats: number,
  tally: FaultTally,
): Promise<void> {
  const label = `${room} bytes of room`;
  const filler = path.join(disk, 'filler');
  const store = path.join(disk, 'store');
  const watched = new FaultyFileSystem(fileSystem);
  const workload = new ErrorWorkload(store, watched, tally, label, { textRepeats });
  await fs.mkdir(store);
  await fillAllBut(filler, room);
  await workload.run();
  await fs.rm(filler);
  await workload.recover({ reopen: (room / PAGE_BYTES) % 2 === 0 });
  tally.expect(
    watched.openFiles().length === 0,
    () => `${label}: left open: ${watched.openFiles().join(', ')}`,
  );
  await workload.check();
  await fs.rm(store, { recursive: true });
  tally.add('sizes');
}

/** Takes all room, then gives some back. */
async function fillAllBut(filler: string, room: number): Promise<void> {
  const file = await fs.open(filler, 'w');
  let size = 0;
  try {
    for (const page = Buffer.alloc(PAGE_BYTES, 1); ; size += PAGE_BYTES) {
      if ((await file.write(page, 0, page.length, size)).bytesWritten < page.length) break;
    }
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOSPC') throw thrown;
  } finally {
    await file.truncate(Math.max(0, size - room));
    await file.close();
  }
}
