/** The k-th file operation fails, for every k until the run completes: for each errno, once and from then on. */
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { NodeFileSystem } from '../../src/storage/file/node-file-system.js';
import { type Fault, FaultyFileSystem } from '../../src/storage/simulated/faulty-file-system.js';
import { ErrorWorkload } from './error-workload.js';
import { type FaultOptions, type FaultSuite, FaultTally, progress, withTempFolder } from './fault-suite.js';

type Kind = Omit<Fault, 'at'>;

const KINDS: readonly Kind[] = [
  ...(['EIO', 'ENOSPC', 'EMFILE', 'EACCES', 'short'] as const).flatMap((kind) => [
    { kind },
    { kind, sticky: true },
  ]),
  { kind: 'EIO', effect: 'half' },
  { kind: 'EIO', effect: 'all' },
  { kind: 'ENOSPC', effect: 'half', sticky: true },
];

/** Where the system has files in memory: the faults are planted, and real syncs would take most of the time. */
const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : undefined;

/** `count` bounds the number of points; they are spread evenly over all of them. */
export const diskErrors: FaultSuite = {
  title: 'the k-th of its file operations fails',
  defaultCount: 100_000,
  run: (options) => withTempFolder((folder) => run(folder, options), MEMORY),
};

async function run(folder: string, { count, seed, log }: FaultOptions) {
  const tally = new FaultTally();
  const tell = progress(log);
  const calls = await callsOf(folder);
  const points = KINDS.flatMap((kind) => Array.from({ length: calls }, (_, at) => ({ ...kind, at: at + 1 })));
  const stride = Math.max(1, points.length / count);
  const descriptors = await openDescriptors();
  for (let position = seed % Math.ceil(stride); position < points.length; position += stride) {
    const fault = points[Math.floor(position)]!;
    await onePoint(path.join(folder, String(Math.floor(position))), fault, tally);
    tell(() => `point ${Math.floor(position)} of ${points.length}`);
  }
  const left = (await openDescriptors()) - descriptors;
  tally.expect(left <= 0, () => `${left} descriptors of this process were left open`);
  tally.add('file operations in a run', calls);
  return tally.report();
}

/** The file operations of a run without faults. */
async function callsOf(folder: string): Promise<number> {
  const tally = new FaultTally();
  const faulty = new FaultyFileSystem(new NodeFileSystem());
  const workload = new ErrorWorkload(path.join(folder, 'clean'), faulty, tally, 'no fault');
  await workload.run();
  const { calls } = faulty;
  await workload.recover({ reopen: false });
  await workload.check();
  if (Object.keys(tally.counts).some((name) => name !== 'acknowledged records checked')) {
    throw new RangeError(`the run without a fault fails: ${JSON.stringify(tally)}`);
  }
  return calls;
}

async function onePoint(folder: string, fault: Fault, tally: FaultTally): Promise<void> {
  const { kind, at, sticky, effect } = fault;
  const label = `${kind}${effect ? `/${effect}` : ''}${sticky ? ' from' : ''} operation ${at}`;
  const faulty = new FaultyFileSystem(new NodeFileSystem(), fault);
  const workload = new ErrorWorkload(folder, faulty, tally, label);
  await workload.run();
  if (faulty.injected > 0) tally.add('points');
  else tally.add('runs without a fault');
  faulty.setFault(null);
  await workload.recover({ reopen: at % 2 === 0 });
  const leaked = faulty.openFiles();
  tally.expect(leaked.length === 0, () => `${label}: left open: ${leaked.join(', ')}`);
  await workload.check();
  await fs.rm(folder, { recursive: true, force: true });
}

async function openDescriptors(): Promise<number> {
  try {
    return (await fs.readdir('/proc/self/fd')).length;
  } catch {
    return 0; // no such place on this system
  }
}
