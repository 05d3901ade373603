/** Processes for the explorer: on each other's disks, one after the other, with fixed ids instead of the system's. */
import { ManualClock } from '../../src/core/clock.js';
import type { FileSystem } from '../../src/storage/file-system.js';
import type { ProcessIdentity } from '../../src/storage/process-identity.js';
import { FaultyFileSystem } from '../../src/storage/simulated/faulty-file-system.js';
import type { SimulatedDisk } from '../../src/storage/simulated/simulated-disk.js';
import { type Fact, History } from './history.js';
import { type OpenStorage, openFileStorage, type RebootedProcess, type RunningProcess } from './workload.js';

/** A bug put in on purpose: around the file system, or in place of the storage. */
export interface Plant {
  readonly wrap?: (fs: FileSystem) => FileSystem;
  readonly openStorage?: OpenStorage;
}

const START_MS = 1_700_000_000_000;
/** Processes that check are told apart from those that run by their ids. */
const FIRST_CHECKER = 9_000;

/** Every other process is gone: a crash ended it. */
export function identityOf(pid: number): ProcessIdentity {
  return {
    owner: () => ({ pid, processStart: `start-${pid}`, host: 'simulated', nonce: `nonce-${pid}` }),
    state: (owner) => (owner.pid === pid ? 'running' : 'gone'),
  };
}

export function runningProcess(
  disk: SimulatedDisk,
  pid: number,
  before: readonly Fact[],
  plant: Plant,
): RunningProcess {
  const faults = new FaultyFileSystem(disk);
  return {
    disk,
    faults,
    fs: plant.wrap ? plant.wrap(faults) : faults,
    clock: disk.clock as ManualClock,
    identity: identityOf(pid),
    openStorage: plant.openStorage ?? openFileStorage,
    history: new History(() => disk.point, before),
  };
}

export function rebootedProcess(
  disk: SimulatedDisk,
  facts: readonly Fact[],
  thorough: boolean,
  plant: Plant,
  pid = FIRST_CHECKER,
): RebootedProcess {
  return {
    disk,
    facts,
    thorough,
    fs: plant.wrap ? plant.wrap(disk) : disk,
    clock: disk.clock as ManualClock,
    identity: identityOf(pid),
    openStorage: plant.openStorage ?? openFileStorage,
    next: () => rebootedProcess(disk.powerCut('nothing', laterClock(disk)), facts, thorough, plant, pid + 1),
  };
}

export function newClock(): ManualClock {
  return new ManualClock(START_MS);
}

/** The next process starts an hour later: no lease of the one before is still warm. */
export function laterClock(disk: SimulatedDisk): ManualClock {
  return new ManualClock(disk.clock.nowMs() + 3_600_000);
}
