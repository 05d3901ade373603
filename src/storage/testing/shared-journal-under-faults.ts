/** Uses a `SharedJournal`, and tracks what must be stored at each moment, whichever call meets a fault. */
import assert from 'node:assert/strict';
import type { Journal, JournalHead, JournalRecord, StorageBackend } from '../ports.js';
import { SharedJournal } from '../shared-journal.js';
import type { Numbered } from './conformance-kit.js';
import { Expected, type FaultSteps } from './fault-steps.js';
import { appended, type JournalState, journalState } from './journals-under-faults.js';

const JOURNAL = ['faults', 'shared', 'journal'];
const LEASE = ['faults', 'shared'];
/** Nothing else writes, so the only wait is for a lease that was left behind. */
const WAIT_MS = 1_000;

/** The state that a process derives from the journal: all numbers, in order. */
class NumbersFold {
  ns: number[] = [];

  async load(journal: Journal<Numbered>): Promise<JournalHead> {
    const ns: number[] = [];
    let head: JournalHead = { seq: 0, cursor: null, crc: null };
    for await (const entry of journal.read()) {
      assert.equal(entry.kind, 'record', 'a shared journal is damaged');
      if (entry.kind !== 'record') continue;
      ns.push(entry.record.n);
      head = { seq: entry.seq, cursor: entry.cursor, crc: entry.crc };
    }
    this.ns = ns;
    return head;
  }

  apply(entry: JournalRecord<Numbered>): void {
    this.ns.push(entry.record.n);
  }
}

export class SharedJournalUnderFaults {
  readonly #steps: FaultSteps;
  readonly #expected = new Expected<JournalState>({ lastSeq: 0, ns: [] });

  constructor(steps: FaultSteps) {
    this.#steps = steps;
  }

  /** Two processes, one after the other. */
  async run(backend: StorageBackend): Promise<void> {
    await this.#process(backend, [1, 2, 3]);
    await this.#process(backend, [4, 5]);
  }

  async #process(backend: StorageBackend, ns: readonly number[]): Promise<void> {
    const fold = new NumbersFold();
    const shared = new SharedJournal(backend, { journal: JOURNAL, lease: LEASE, fold, waitMs: WAIT_MS });
    await this.#steps.get('refresh', () => shared.refresh());
    for (const n of ns) {
      const change = () => shared.change(async () => ({ record: { n }, done: () => this.#assertSeen(fold) }));
      await this.#steps.change(`change ${n}`, this.#expected, appended(n), change);
    }
    const secure = () => shared.change(async () => ({ secure: true, done: () => this.#assertSeen(fold) }));
    await this.#steps.get('a change without a record', secure);
    await this.#steps.get('refresh', () => shared.refresh());
    const reader = await this.#steps.get('reader', () => shared.reader());
    const state = await this.#steps.get('read', () => journalState(reader));
    this.#expected.see(state, 'what the shared journal holds');
    assert.deepEqual(fold.ns, state.ns, 'the state of a process is not that of its journal');
    await this.#steps.get('close', () => shared.close());
  }

  /** No number is repeated or out of order, whatever happened to a change. */
  #assertSeen(fold: NumbersFold): void {
    const inOrder = [...new Set(fold.ns)].sort((a, b) => a - b);
    assert.deepEqual(fold.ns, inOrder, 'a change was made twice, or not in its turn');
  }

  /** Checks with the healthy store: everything acknowledged is there, and changes still work. */
  async check(backend: StorageBackend): Promise<void> {
    await this.#process(backend, [100]);
  }
}
