/** Uses journals and leases, and tracks what must be stored at each moment, whichever call meets a fault. */
import assert from 'node:assert/strict';
import type { Journal, JournalOptions, JournalRecord, Lease, Name, StorageBackend } from '../ports.js';
import { collect, type Numbered } from './conformance-kit.js';
import { Expected, type FaultSteps } from './fault-steps.js';

/** The content of a journal: the number of its last record, and its records, including archived ones. */
export interface JournalState {
  readonly lastSeq: number;
  readonly ns: readonly number[];
}

export function appended(...ns: number[]): (before: JournalState) => JournalState {
  return (before) => ({ lastSeq: before.lastSeq + ns.length, ns: [...before.ns, ...ns] });
}

/** Asserts that the records are numbered without gaps. Bytes that a fenced writer wrote do not count as records. */
export async function journalState(journal: Journal<Numbered>): Promise<JournalState> {
  const entries: JournalRecord<Numbered>[] = [];
  for await (const entry of journal.read({ archived: true })) {
    if (entry.kind === 'record') entries.push(entry);
    else assert.equal(entry.reason, 'after-seal', `unexpected damage: ${JSON.stringify(entry)}`);
  }
  const { seq: lastSeq } = await journal.head();
  const first = lastSeq - entries.length + 1;
  assert.deepEqual(
    entries.map(({ seq }) => seq),
    entries.map((_, index) => first + index),
    'the records of a journal are not numbered without gaps',
  );
  return { lastSeq, ns: entries.map(({ record }) => record.n) };
}

const OWN: Name = ['faults', 'own'];
const GIVEN: Name = ['faults', 'given'];
const COPIED: Name = ['faults', 'copied'];
const BOUNDED: Name = ['faults', 'bounded'];
const REMOVED: Name = ['faults', 'removed'];
const LEASE: Name = ['faults', 'writer'];
const TTL_MS = 10_000;
const EMPTY: JournalState = { lastSeq: 0, ns: [] };

export class JournalsUnderFaults {
  readonly #steps: FaultSteps;
  readonly #passTime: (ms: number) => Promise<void> | void;
  readonly #expected = new Map<Name, Expected<JournalState>>(
    [OWN, GIVEN, COPIED, BOUNDED, REMOVED].map((name) => [name, new Expected(EMPTY)]),
  );

  constructor(steps: FaultSteps, passTime: (ms: number) => Promise<void> | void) {
    this.#steps = steps;
    this.#passTime = passTime;
  }

  async run(backend: StorageBackend): Promise<void> {
    await this.#ownLease(backend);
    await this.#takeOver(backend);
    await this.#wholeJournals(backend);
  }

  async #ownLease(backend: StorageBackend): Promise<void> {
    const steps = this.#steps;
    const journal = await this.#open(backend, OWN);
    await this.#append(journal, OWN, [1]);
    await this.#append(journal, OWN, [2, 3]);
    const { seq } = await steps.get('head', () => journal.head());
    await this.#append(journal, OWN, [4], seq);
    await steps.get('secure', () => journal.secure());
    await steps.get('archiveBefore', () => journal.archiveBefore(seq));
    await this.#append(journal, OWN, [5]);
    await steps.get('readBackward', () => collect(journal.readBackward()));
    await steps.get('repair', () => journal.repair());
    await this.#look(journal, OWN);
    await steps.get('close', () => journal.close());
    const again = await this.#open(backend, OWN);
    await this.#append(again, OWN, [6]);
    await steps.get('close', () => again.close());
  }

  /** A writer that is suspended for longer than its lease time, and one that takes over. */
  async #takeOver(backend: StorageBackend): Promise<void> {
    const steps = this.#steps;
    const first = await this.#acquire(backend);
    const before = await this.#open(backend, GIVEN, { lease: first });
    await this.#append(before, GIVEN, [1]);
    await steps.get('check', () => first.check());
    await steps.get('renew', () => first.renew());
    await this.#passTime(TTL_MS + 1);
    const second = await this.#acquire(backend);
    assert.ok(second.fence > first.fence, 'the fence of a lease that was taken over does not grow');
    const after = await this.#open(backend, GIVEN, { lease: second });
    await this.#append(after, GIVEN, [2]);
    await steps.refused('an append after a take-over', 'LEASE_LOST', () => before.append([{ n: 99 }]));
    assert.ok(first.lost.aborted, 'the loss of a lease was not told to its owner');
    await this.#append(after, GIVEN, [3]);
    await steps.get('close', () => before.close());
    await steps.get('close', () => after.close());
    await steps.get('release', () => second.release());
    const inspected = await steps.get('inspect', () => backend.leases.inspect(LEASE));
    assert.equal(inspected, null, 'a lease that was released is held');
  }

  /** Operations on whole journals. */
  async #wholeJournals(backend: StorageBackend): Promise<void> {
    const steps = this.#steps;
    const lease = await this.#acquire(backend);
    const copied = await this.#open(backend, COPIED, { lease });
    const begin = () => copied.continueAfter(7);
    await steps.change('continueAfter', this.#of(COPIED), () => ({ lastSeq: 7, ns: [] }), begin);
    await this.#append(copied, COPIED, [8]);
    const bounded = await this.#open(backend, BOUNDED, { lease });
    for (const n of [1, 2, 3]) await this.#append(bounded, BOUNDED, [n]);
    await steps.get('removeBefore', () => bounded.removeBefore(3));
    const removed = await this.#open(backend, REMOVED, { lease });
    await this.#append(removed, REMOVED, [1]);
    for (const journal of [copied, bounded, removed]) await steps.get('close', () => journal.close());
    const remove = () => backend.removeJournal(REMOVED, lease);
    await steps.change('removeJournal', this.#of(REMOVED), () => EMPTY, remove);
    await steps.get('release', () => lease.release());
  }

  #of(name: Name): Expected<JournalState> {
    return this.#expected.get(name)!;
  }

  #open(backend: StorageBackend, name: Name, options: JournalOptions = {}): Promise<Journal<Numbered>> {
    return this.#steps.get(`openJournal ${name.join('/')}`, () =>
      backend.openJournal<Numbered>(name, options),
    );
  }

  #acquire(backend: StorageBackend): Promise<Lease> {
    return this.#steps.get('acquire', () => backend.leases.acquire(LEASE, { ttlMs: TTL_MS }));
  }

  #append(journal: Journal<Numbered>, name: Name, ns: number[], expectedSeq?: number): Promise<void> {
    const options = expectedSeq === undefined ? {} : { expectedSeq };
    const append = () =>
      journal.append(
        ns.map((n) => ({ n })),
        options,
      );
    return this.#steps.change(`append ${ns} to ${name.join('/')}`, this.#of(name), appended(...ns), append);
  }

  async #look(journal: Journal<Numbered>, name: Name): Promise<void> {
    const state = await this.#steps.get(`read ${name.join('/')}`, () => journalState(journal));
    this.#of(name).done((expected) => this.#comparable(name, expected));
    this.#of(name).see(this.#comparable(name, state), `what ${name.join('/')} holds`);
  }

  /** Records to be removed may still be there: a backend that stores in pieces removes only whole pieces. */
  #comparable(name: Name, state: JournalState): JournalState {
    return name === BOUNDED ? { ...state, ns: state.ns.slice(-1) } : state;
  }

  /** Checks with the healthy store: everything acknowledged is there, and the journals still work. */
  async check(backend: StorageBackend): Promise<void> {
    const lease = await backend.leases.acquire(LEASE);
    for (const name of this.#expected.keys()) {
      const journal = await backend.openJournal<Numbered>(name, name === OWN ? {} : { lease });
      assert.deepEqual(journal.openingDamage(), [], `${name.join('/')} is damaged`);
      await this.#look(journal, name);
      await this.#append(journal, name, [100]);
      await this.#look(journal, name);
      await journal.close();
    }
    await lease.release();
  }
}
