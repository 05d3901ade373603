/**
 * The calls to the system that an SQLite store makes, in their order: whatever is acknowledged was written to the log and synced before
 * the acknowledgement.
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

/** `count` is the number of acknowledgements. */
export const syncOrder: FaultSuite = {
  title: 'its calls to the system are watched',
  defaultCount: 200,
  run: (options) => withTempFolder((folder) => run(folder, options)),
};

async function run(folder: string, { count }: FaultOptions): Promise<FaultReport> {
  const tally = new FaultTally();
  if (!hasStrace()) return { ...tally.report(), skipped: 'strace is not installed, or must not trace here' };
  const build = path.join(folder, 'build');
  await fs.mkdir(build);
  await buildChildren(build);
  const trace = path.join(folder, 'trace');
  const child = [process.execPath, path.join(build, 'test/faults/sync-child.js')];
  const settings = [`sqlite:${path.join(folder, 'store.db')}`, String(count)];
  const args = ['-f', '-y', '-s', '40', '-e', `trace=${TRACED}`, '-o', trace, ...child, ...settings];
  const { status, stderr } = spawnSync('strace', args, { encoding: 'utf8', timeout: RUN_WITHIN_MS });
  tally.expect(status === 0, () => `the child ended with ${status}: ${stderr}`);
  checkOrder(await fs.readFile(trace, 'utf8'), tally);
  const { acknowledged = 0 } = tally.counts;
  tally.expect(acknowledged === count, () => `${acknowledged} of ${count} acknowledgements were seen`);
  return tally.report();
}

function hasStrace(): boolean {
  try {
    execFileSync('strace', ['-f', '-e', 'trace=write', '-o', '/dev/null', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Two connections have the log open: one that syncs, and one for what need not be durable by itself, whose writes are not looked at. */
export function checkOrder(trace: string, tally: FaultTally): void {
  const unsynced = new Set<string>();
  const durable = new Set<string>();
  const began = new Map<string, string>();
  let synced = false;
  for (const line of trace.split('\n')) {
    const call = completed(line, began);
    if (call === null) continue;
    const [, name = '', file = '', rest = ''] = /^(\w+)\((\d+<[^>]*>)(.*)$/.exec(call) ?? [];
    if (name.startsWith('pwrite') && file.endsWith('-wal>')) unsynced.add(file);
    if (name.endsWith('sync') && file.endsWith('-wal>') && rest.endsWith('= 0') && unsynced.delete(file)) {
      durable.add(file);
      synced = true;
      tally.add('syncs of the log');
    }
    const [, word, n] = /^, "(begin|done) (\d+)\\n"/.exec(name === 'write' ? rest : '') ?? [];
    if (word === 'begin') synced = false;
    if (word !== 'done') continue;
    tally.add('acknowledged');
    tally.expect(synced, () => `${n} was acknowledged before the log was synced`);
    const left = [...durable].filter((open) => unsynced.has(open)).length;
    tally.expect(left === 0, () => `${n} was acknowledged while writes to the log were not synced`);
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
