/**
 * The calls to the system that a store makes, in their order: whatever is acknowledged was written and synced before the
 * acknowledgement. For SQLite that is its log, for files each file that was written to.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { buildChildren } from './child-build.js';
import {
  type FaultOptions,
  type FaultReport,
  type FaultSuite,
  FaultTally,
  withTempFolder,
} from './fault-suite.js';

const TRACED = 'fdatasync,fsync,pwrite64,pwritev,write';
const RUN_WITHIN_MS = 60_000;

/** Which files count, and of which descriptors. */
export interface Watched {
  readonly isData: (file: string) => boolean;
  /** False where another descriptor of the file, which never syncs, is used for what need not be durable. */
  readonly everyDescriptor: boolean;
}

/** Two connections have the log open: one that syncs, and one for what need not be durable by itself. */
export const SQLITE_LOG: Watched = { isData: (file) => file.endsWith('-wal>'), everyDescriptor: false };

function filesBelow(folder: string): Watched {
  return { isData: (file) => file.includes(`<${folder}/`), everyDescriptor: true };
}

/** `count` is the number of acknowledgements of each store. */
export const syncOrder: FaultSuite = {
  title: 'its calls to the system are watched',
  defaultCount: 200,
  run: (options) => withTempFolder((folder) => run(folder, options)),
};

async function run(folder: string, options: FaultOptions): Promise<FaultReport> {
  const tally = new FaultTally();
  if (!hasStrace()) return { ...tally.report(), skipped: 'strace is not installed, or must not trace here' };
  const build = path.join(folder, 'build');
  await fs.mkdir(build);
  await buildChildren(build);
  const files = path.join(await fs.realpath(folder), 'files');
  await trace(folder, `sqlite:${path.join(folder, 'store.db')}`, SQLITE_LOG, options, tally);
  await trace(folder, files, filesBelow(files), options, tally);
  const { acknowledged = 0 } = tally.counts;
  tally.expect(
    acknowledged === 2 * options.count,
    () => `${acknowledged} of ${2 * options.count} acknowledgements were seen`,
  );
  return tally.report();
}

async function trace(
  folder: string,
  place: string,
  watched: Watched,
  { count }: FaultOptions,
  tally: FaultTally,
): Promise<void> {
  const output = path.join(folder, 'trace');
  const child = [
    process.execPath,
    path.join(folder, 'build/test/faults/sync-child.js'),
    place,
    String(count),
  ];
  const args = ['-f', '-y', '-s', '40', '-e', `trace=${TRACED}`, '-o', output, ...child];
  const { status, stderr } = spawnSync('strace', args, { encoding: 'utf8', timeout: RUN_WITHIN_MS });
  tally.expect(status === 0, () => `the child on ${place} ended with ${status}: ${stderr}`);
  checkOrder(await fs.readFile(output, 'utf8'), tally, watched);
}

function hasStrace(): boolean {
  try {
    execFileSync('strace', ['-f', '-e', 'trace=write', '-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export function checkOrder(
  trace: string,
  tally: FaultTally,
  { isData, everyDescriptor }: Watched = SQLITE_LOG,
): void {
  const unsynced = new Set<string>();
  const durable = new Set<string>();
  const began = new Map<string, string>();
  let synced = false;
  for (const line of trace.split('\n')) {
    const call = completed(line, began);
    if (call === null) continue;
    const [, name = '', file = '', rest = ''] = /^(\w+)\((\d+<[^>]*>)(.*)$/.exec(call) ?? [];
    if (name.startsWith('pwrite') && isData(file)) unsynced.add(file);
    if (name.endsWith('sync') && isData(file) && rest.endsWith('= 0') && unsynced.delete(file)) {
      durable.add(file);
      synced = true;
      tally.add('syncs');
    }
    const [, word, n] = /^, "(begin|done) (\d+)\\n"/.exec(name === 'write' ? rest : '') ?? [];
    if (word === 'begin') synced = false;
    if (word !== 'done') continue;
    tally.add('acknowledged');
    tally.expect(synced, () => `${n} was acknowledged before it was synced`);
    const left = [...unsynced].filter((open) => everyDescriptor || durable.has(open));
    tally.expect(
      left.length === 0,
      () => `${n} was acknowledged while writes were not synced: ${left.join(', ')}`,
    );
  }
}

/** A call that another thread interrupts stands in two lines: it counts when it ends. */
function completed(line: string, began: Map<string, string>): string | null {
  const [, thread = '', text = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
  if (text.endsWith('<unfinished ...>')) {
    began.set(thread, text.slice(0, -'<unfinished ...>'.length).trimEnd());
    return null;
  }
  const [, end] = /^<\.\.\. \w+ resumed>(.*)$/.exec(text) ?? [];
  return end === undefined ? text : `${began.get(thread) ?? ''}${end}`;
}
