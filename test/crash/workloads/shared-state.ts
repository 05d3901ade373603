/**
 * Shared state that is counted up, changed in batches, deleted from, and grows so that its history is removed. After a crash the count
 * is what was acknowledged, or more by what was under way; a batch is there as a whole or not at all; no version goes back; and the
 * history leads to the same state.
 */
import { SharedState, type StateView } from '../../../src/state/shared/shared-state.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import type { Fact } from '../history.js';
import {
  demand,
  type Process,
  type RebootedProcess,
  type RunningProcess,
  type Session,
  type Workload,
  withStorage,
} from '../workload.js';

/** More than the log writes before it takes a snapshot. */
const LARGE = 'y'.repeat(66_000);
/** So small that each `large` ends a segment, and that what lies before a snapshot goes at once. */
const SEGMENT_BYTES_MAX = 8_000;
const LIMITS = { history: 1 };

function withState<T>(process: Process, run: (state: SharedState) => Promise<T>): Promise<T> {
  const make = (storage: StorageBackend) =>
    new SharedState(storage, { root: 'root', limits: LIMITS, clock: process.clock });
  return withStorage(process, make, run, { segmentBytesMax: SEGMENT_BYTES_MAX });
}

/** What the keys tell, and what of it is acknowledged: `count` and `pair` go up, `gone` comes and goes. */
class SharedStateSession implements Session {
  readonly #process: RunningProcess;

  constructor(process: RunningProcess) {
    this.#process = process;
  }

  /** Opened and closed each time: then no timer of this process decides what is on the disk. */
  async apply(operation: string): Promise<void> {
    await withState(this.#process, async (state) => {
      this.#process.clock.advance(1);
      if (operation === 'batch') await this.#batch(state);
      else if (operation === 'burst') await Promise.all([1, 2, 3].map(() => this.#increment(state)));
      else if (operation === 'delete') await this.#delete(state);
      else {
        if (operation === 'large') await this.#large(state);
        await this.#increment(state);
      }
    });
  }

  async #increment(state: SharedState): Promise<void> {
    const ack = this.#process.history.begin({ kind: 'increment' });
    const { value, version, globalVersion } = await state.increment('count');
    ack({ count: value, version, globalVersion });
  }

  async #batch(state: SharedState): Promise<void> {
    const ack = this.#process.history.begin({ kind: 'batch' });
    const { results, globalVersion } = await state.batch([
      { op: 'increment', key: 'left' },
      { op: 'increment', key: 'right' },
    ]);
    ack({ pair: results[1]!.value ?? null, globalVersion });
  }

  async #delete(state: SharedState): Promise<void> {
    const ack = this.#process.history.begin({ kind: 'delete' });
    const { version } = await state.set('gone', true);
    ack({ gone: version });
    const ackDelete = this.#process.history.begin({ kind: 'delete' });
    await state.delete('gone');
    ackDelete({ gone: version + 1 });
  }

  /** Only the record is large, not the state: the next change writes a snapshot, and that is small. */
  async #large(state: SharedState): Promise<void> {
    const ack = this.#process.history.begin({ kind: 'large' });
    const { globalVersion } = await state.batch([
      { op: 'set', key: 'large', value: LARGE },
      { op: 'set', key: 'large', value: 'small' },
    ]);
    ack({ globalVersion });
  }

  async dispose(): Promise<void> {}
}

/** The most that was acknowledged of something. */
function leastOf(facts: readonly Fact[], field: string): number {
  return Math.max(0, ...facts.map(({ acked }) => Number(acked?.[field] ?? 0)));
}

function begun(facts: readonly Fact[], kind: string): number {
  return facts.filter(({ fact }) => fact['kind'] === kind).length;
}

async function checkShared(process: RebootedProcess): Promise<void> {
  const { facts } = process;
  const after = await withState(process, async (state) => {
    const view = await state.getAll();
    checkValues(view, facts);
    if (process.thorough) await checkHistory(state, view);
    await checkGone(state, facts);
    process.clock.advance(1);
    const { value, version, globalVersion } = await state.increment('count');
    return { value, version, globalVersion };
  });
  if (!process.thorough) return;
  await withState(process.next(), async (state) => {
    const key = await state.get('count');
    const found = { value: key?.value, version: key?.version, globalVersion: key?.globalVersion };
    demand(
      JSON.stringify(found) === JSON.stringify(after),
      () => `a change after recovery did not last: ${JSON.stringify(found)}`,
    );
  });
}

function checkValues(view: StateView, facts: readonly Fact[]): void {
  const of = (name: string) => view.keys.find(({ key }) => key === name);
  const count = Number(of('count')?.value ?? 0);
  const [least, most] = [leastOf(facts, 'count'), begun(facts, 'increment')];
  demand(count >= least && count <= most, () => `count ${count}, expected ${least} to ${most}`);
  // More where a damaged record may have held changes: their versions are left out.
  demand((of('count')?.version ?? 0) >= count, () => `${count} increments gave ${of('count')?.version}`);
  const [left, right] = [Number(of('left')?.value ?? 0), Number(of('right')?.value ?? 0)];
  demand(left === right, () => `half of a batch: ${left} and ${right}`);
  const pair = leastOf(facts, 'pair');
  demand(left >= pair && left <= begun(facts, 'batch'), () => `batch ${left}, acknowledged ${pair}`);
  demand([undefined, 'small'].includes(of('large')?.value as string), () => 'half of a large batch');
  const acked = leastOf(facts, 'globalVersion');
  demand(view.globalVersion >= acked, () => `global version ${view.globalVersion}, acknowledged ${acked}`);
}

/** What is left of the history has no gap, and leads to the state. */
async function checkHistory(state: SharedState, view: StateView): Promise<void> {
  const oldest = await state.oldestVersion();
  const changes = await state.changesSince(oldest, 10_000);
  const numbers = changes.map(({ globalVersion }) => globalVersion);
  demand(
    numbers.every((number, index) => number === oldest + index + 1),
    () => `after ${oldest} come ${numbers.join(' ')}`,
  );
  demand(
    oldest + changes.length === view.globalVersion,
    () => `${oldest} and ${changes.length} changes lead to ${view.globalVersion}`,
  );
  const { keys } = await state.at(view.globalVersion);
  demand(JSON.stringify(keys) === JSON.stringify(view.keys), () => 'the history leads to another state');
  await state.at(oldest);
}

/** There is a tombstone, or the value that came before it; written again it goes on from there. */
async function checkGone(state: SharedState, facts: readonly Fact[]): Promise<void> {
  const deletes = begun(facts, 'delete');
  if (deletes === 0) return;
  const least = leastOf(facts, 'gone');
  const found = await state.get('gone');
  demand(!found || found.version >= least, () => `gone is at ${found?.version}, acknowledged ${least}`);
  const { version } = await state.set('gone', 'again');
  demand(version > least, () => `version ${version} of gone was there before`);
  await state.delete('gone');
}

export const sharedState: Workload = {
  name: 'shared-state',
  alphabet: ['increment', 'batch', 'burst', 'delete', 'large'],
  start: async (process) => new SharedStateSession(process),
  check: checkShared,
};
