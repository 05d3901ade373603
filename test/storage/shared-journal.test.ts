/** A journal that several write, and the right to write that they share. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/core/clock.js';
import { RekindleError } from '../../src/core/errors.js';
import type { JsonObject } from '../../src/core/json.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { followFrom, JOURNAL_START } from '../../src/storage/journal-position.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type {
  AppendResult,
  Journal,
  JournalHead,
  JournalRecord,
  Lease,
  StorageBackend,
} from '../../src/storage/ports.js';
import { withRedaction } from '../../src/storage/redacted-storage.js';
import { type JournalFold, SharedJournal } from '../../src/storage/shared-journal.js';
import { SharedLease } from '../../src/storage/shared-lease.js';

const JOURNAL = ['shared', 'counter'];
const LEASE = ['shared', 'counter.lease'];
type Step = JsonObject & { add: number };

/** The sum of what was appended, and how often that was counted from the start. */
class Counter implements JournalFold<Step> {
  sum = 0;
  loads = 0;
  /** Thrown by the next load. */
  fails: Error | null = null;

  async load(journal: Journal<Step>): Promise<JournalHead> {
    this.loads += 1;
    const { fails } = this;
    this.fails = null;
    if (fails) throw fails;
    this.sum = 0;
    return (await followFrom(journal, JOURNAL_START, (entry) => this.apply(entry)))!;
  }

  apply({ record }: JournalRecord<Step>): void {
    this.sum += record.add;
  }
}

class Instance {
  readonly counter = new Counter();
  readonly journal: SharedJournal<Step>;

  constructor(backend: StorageBackend, waitMs = 15_000) {
    this.journal = new SharedJournal(backend, { journal: JOURNAL, lease: LEASE, fold: this.counter, waitMs });
    open.push(this);
  }

  add(add = 1): Promise<number> {
    return this.journal.change(async () => ({ record: { add }, done: () => this.counter.sum }));
  }

  async read(): Promise<number> {
    await this.journal.refresh();
    return this.counter.sum;
  }

  close(): Promise<void> {
    return this.journal.close();
  }
}

/** One store as several processes have it, and what makes the one that may write lose that right. */
interface Store {
  process(): StorageBackend;
  takeOver(): Promise<void>;
}

const made: string[] = [];
const open: Instance[] = [];
const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);

beforeEach(() => void process.on('unhandledRejection', note));
afterEach(async () => {
  for (const instance of open.splice(0)) await instance.close();
  await sleep(1);
  process.off('unhandledRejection', note);
  expect(unhandled.splice(0)).toEqual([]);
});
afterAll(async () => {
  for (const folder of made) await fs.rm(folder, { recursive: true, force: true });
});

async function fileStore(): Promise<Store> {
  const root = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-shared-'));
  made.push(root);
  const takeOver = async () => {
    const storage = new FileStorage(root);
    await (await storage.leases.acquire(LEASE, { force: true })).release();
    await storage.close();
  };
  return { process: () => new FileStorage(root), takeOver };
}

async function memoryStore(): Promise<Store> {
  const clock = new ManualClock();
  const storage = new MemoryStorage({ clock });
  return { process: () => storage, takeOver: async () => clock.advance(60_000) };
}

const STORES = [
  { name: 'files', make: fileStore },
  { name: 'memory', make: memoryStore },
];

/** Called with each journal that is opened for writing, or for reading, before it is handed out. */
function onOpen(
  backend: StorageBackend,
  change: (journal: Journal<never>, readOnly: boolean) => Promise<void>,
): void {
  const openJournal = backend.openJournal.bind(backend);
  backend.openJournal = async (name, options) => {
    const journal = await openJournal<never>(name, options);
    await change(journal, options?.readOnly ?? false);
    return journal;
  };
}

/** Runs in place of the first append: `own` is that append, `append` takes any records. */
function aroundFirstAppend(
  backend: StorageBackend,
  around: (
    append: (records: readonly Step[]) => Promise<AppendResult>,
    own: () => Promise<AppendResult>,
  ) => Promise<AppendResult>,
): void {
  let isFirst = true;
  onOpen(backend, async (journal, readOnly) => {
    if (readOnly) return;
    const append = journal.append.bind(journal);
    journal.append = (records, options) => {
      const own = () => append(records, options);
      if (!isFirst) return own();
      isFirst = false;
      return around((others) => append(others as never[]), own);
    };
  });
}

function gate() {
  let opens = () => {};
  const opened = new Promise<void>((resolve) => (opens = resolve));
  return { opened, open: () => opens() };
}

describe.each(STORES)('a shared journal over $name', ({ make }) => {
  it('loses nothing that several instances change at the same time', async () => {
    const store = await make();
    const instances = [1, 2, 3].map(() => new Instance(store.process()));
    const results = await Promise.all(instances.flatMap((one) => Array.from({ length: 8 }, () => one.add())));
    expect([...results].sort((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, n) => n + 1));
    for (const one of [...instances, new Instance(store.process())]) expect(await one.read()).toBe(24);
  });

  it('shows an instance what another one appended', async () => {
    const store = await make();
    const [writer, reader] = [new Instance(store.process()), new Instance(store.process())];
    expect(await reader.read()).toBe(0);
    expect(reader.journal.head).toEqual(JOURNAL_START);
    for (let n = 1; n <= 3; n += 1) {
      await writer.add();
      expect(await reader.read()).toBe(n);
    }
    expect(reader.journal.head).toEqual(writer.journal.head);
    expect(reader.counter.loads).toBe(1);
  });

  it('shows what another one appended also while a change of its own begins', async () => {
    const store = await make();
    const backend = store.process();
    const [one, other] = [new Instance(backend), new Instance(store.process())];
    await other.add();
    expect(await one.read()).toBe(1);
    await other.add();
    await other.close();
    const [begun, goOn] = [gate(), gate()];
    onOpen(backend, async (_, readOnly) => {
      if (readOnly) return;
      begun.open();
      await goOn.opened;
    });
    const changing = one.add();
    await begun.opened;
    expect(await Promise.race([one.read(), sleep(5_000, 'waits')])).toBe(2);
    goOn.open();
    expect(await changing).toBe(3);
  });

  it('applies a record once, also when it is read while it is appended', async () => {
    const store = await make();
    const backend = store.process();
    const [opening, goOn] = [gate(), gate()];
    const one = new Instance(backend);
    let reading: Promise<number> | null = null;
    onOpen(backend, async (journal, readOnly) => {
      if (readOnly) {
        opening.open();
        return goOn.opened;
      }
      const append = journal.append.bind(journal);
      journal.append = async (rows, options) => {
        const result = await append(rows, options);
        goOn.open();
        await reading;
        return result;
      };
    });
    reading = one.read();
    await opening.opened;
    expect(await one.add()).toBe(1);
    await reading;
    expect(await one.read()).toBe(1);
  });

  it('writes nothing when a decision throws, and lets the next one go on', async () => {
    const store = await make();
    const one = new Instance(store.process());
    await one.add();
    const failing = one.journal.change(async () => Promise.reject(new TypeError('no')));
    const results = await Promise.allSettled([failing, one.add()]);
    expect(results).toMatchObject([{ reason: { message: 'no' } }, { value: 2 }]);
    expect(await new Instance(store.process()).read()).toBe(2);
    expect(one.journal.head.seq).toBe(2);
  });

  it('appends nothing for a decision without a record', async () => {
    const store = await make();
    const one = new Instance(store.process());
    expect(await one.journal.change(async () => ({ done: () => 'seen' }))).toBe('seen');
    expect(one.journal.head.seq).toBe(0);
  });

  it.each([
    ['with a record', true],
    ['without one', false],
  ])(
    'takes a decision %s again on the newest state when the right to write was lost',
    async (_, isChange) => {
      const store = await make();
      const [one, other] = [new Instance(store.process()), new Instance(store.process())];
      await one.add();
      const seen: [number, number][] = [];
      const total = await one.journal.change(async (attempt) => {
        seen.push([attempt, one.counter.sum]);
        if (attempt === 1) {
          await store.takeOver();
          await other.add(10);
          await other.close();
        }
        return { ...(isChange ? { record: { add: one.counter.sum } } : {}), done: () => one.counter.sum };
      });
      expect(seen).toEqual([
        [1, 1],
        [2, 11],
      ]);
      const expected = isChange ? 22 : 11;
      expect(total).toBe(expected);
      expect(await new Instance(store.process()).read()).toBe(expected);
    },
  );

  it('makes the data behind a decision without a record durable before it resolves', async () => {
    const backend = (await make()).process();
    const one = new Instance(backend);
    const steps: string[] = [];
    onOpen(backend, async (journal) => {
      const secure = journal.secure.bind(journal);
      journal.secure = async () => {
        await secure();
        steps.push('durable');
      };
    });
    await one.journal.change(async () => ({ secure: true, done: () => steps.push('told') }));
    expect(steps).toEqual(['durable', 'told']);
  });

  it('is loaded from the start after applying records failed half-way', async () => {
    const store = await make();
    const [one, other] = [new Instance(store.process()), new Instance(store.process())];
    await one.add(1);
    expect(await other.read()).toBe(1);
    await one.add(2);
    await one.add(4);
    const apply = other.counter.apply.bind(other.counter);
    other.counter.apply = (entry) => {
      if (entry.record.add === 4) throw new TypeError('a bad moment');
      apply(entry);
    };
    await expect(other.read()).rejects.toThrow('a bad moment');
    other.counter.apply = apply;
    expect(await other.read()).toBe(7);
    expect(other.counter.loads).toBe(2);
  });

  it('decides again when the record of another one came before its own', async () => {
    const store = await make();
    const backend = store.process();
    const one = new Instance(backend);
    aroundFirstAppend(backend, async (append, own) => {
      await append([{ add: 10 }]); // a late append of the previous owner
      return own();
    });
    const seen: number[] = [];
    const total = await one.journal.change(async () => {
      seen.push(one.counter.sum);
      return { record: { add: one.counter.sum + 1 }, done: () => one.counter.sum };
    });
    expect(seen).toEqual([0, 10]);
    expect(total).toBe(21);
    expect(await new Instance(store.process()).read()).toBe(21);
  });

  it('gives up when the right to write is lost again and again', async () => {
    const one = new Instance((await make()).process());
    let attempts = 0;
    const lost = one.journal.change(async () => {
      attempts += 1;
      throw new RekindleError('LEASE_LOST', 'gone');
    });
    await expect(lost).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(attempts).toBe(5);
    expect(await one.add()).toBe(1);
  });

  it('never makes a change twice that was appended', async () => {
    const store = await make();
    const one = new Instance(store.process());
    const losing = one.journal.change(async () => ({
      record: { add: 1 },
      done: () => Promise.reject(new RekindleError('LEASE_LOST', 'gone')),
    }));
    await expect(losing).rejects.toMatchObject({ code: 'LEASE_LOST' });
    expect(await new Instance(store.process()).read()).toBe(1);
  });

  it('finds a change again that was appended while the lease was lost', async () => {
    const store = await make();
    const backend = store.process();
    const one = new Instance(backend);
    aroundFirstAppend(backend, async (_append, own) => {
      await own();
      await store.takeOver();
      throw new RekindleError('LEASE_LOST', 'gone');
    });
    expect(await one.add()).toBe(1);
    expect(await new Instance(store.process()).read()).toBe(1);
  });

  it('finds such a change again on a store that redacts', async () => {
    const store = await make();
    const backend = store.process();
    const one = new Instance(withRedaction(backend));
    aroundFirstAppend(backend, async (_append, own) => {
      await own();
      await store.takeOver();
      throw new RekindleError('LEASE_LOST', 'gone');
    });
    const record = { add: 1, note: 'PASSWORD=hunter2hunter' };
    expect(await one.journal.change(async () => ({ record, done: () => one.counter.sum }))).toBe(1);
    expect(await new Instance(store.process()).read()).toBe(1);
  });

  it('says that it does not know when the lease was lost while a change was written, and then its turn does not come', async () => {
    const store = await make();
    const backend = store.process();
    const one = new Instance(backend, 30);
    let other: Lease | null = null;
    aroundFirstAppend(backend, async (_append, own) => {
      await own(); // it is in the journal, and the new owner keeps the lease
      await store.takeOver();
      other = await store.process().leases.acquire(LEASE);
      throw new RekindleError('LEASE_LOST', 'gone');
    });
    await expect(one.add()).rejects.toMatchObject({ code: 'JOURNAL_OUTCOME_UNKNOWN' });
    expect(await new Instance(store.process()).read()).toBe(1);
    await (other as Lease | null)?.release();
  });

  it('never decides on a state that could not be loaded', async () => {
    const store = await make();
    await new Instance(store.process()).add(5);
    await open[0]!.close();
    const one = new Instance(store.process());
    one.counter.fails = new TypeError('a bad moment');
    await expect(one.add()).rejects.toThrow('a bad moment');
    expect(await one.add()).toBe(6);
    expect(one.counter.loads).toBe(2);
  });

  it('reads again after a reading failed', async () => {
    const store = await make();
    const backend = store.process();
    await new Instance(store.process()).add(5);
    const one = new Instance(backend);
    let fails = true;
    onOpen(backend, async () => {
      if (fails) throw new TypeError('a bad moment');
    });
    await expect(one.read()).rejects.toThrow('a bad moment');
    fails = false;
    expect(await one.read()).toBe(5);
  });

  it('says LEASE_HELD when its turn does not come, and goes on when it does', async () => {
    const store = await make();
    const one = new Instance(store.process(), 30);
    const lease = await store.process().leases.acquire(LEASE);
    await expect(one.add()).rejects.toMatchObject({ code: 'LEASE_HELD' });
    expect(await one.read()).toBe(0);
    await lease.release();
    expect(await one.add()).toBe(1);
  });

  it('closes when work under way is done, and refuses what comes later', async () => {
    const store = await make();
    const one = new Instance(store.process());
    const changing = [one.add(), one.add(), one.read()];
    await one.close();
    expect((await Promise.all(changing)).slice(0, 2)).toEqual([1, 2]);
    await expect(one.add()).rejects.toMatchObject({ code: 'JOURNAL_CLOSED' });
    await one.close();
    expect(await store.process().leases.inspect(LEASE)).toBeNull();
  });
});

describe.each(STORES)('a shared lease over $name', ({ make }) => {
  const leaseOf = (store: Store, onEnd?: () => Promise<void>) =>
    new SharedLease(store.process().leases, LEASE, onEnd ? { onEnd } : {});

  it('lets one work at a time, in the order of its calls', async () => {
    const store = await make();
    const leases = [leaseOf(store), leaseOf(store)];
    const seen: string[] = [];
    let working = 0;
    const work = (who: number, n: number) => async () => {
      working += 1;
      expect(working).toBe(1);
      await sleep(1);
      seen.push(`${who} ${n}`);
      working -= 1;
    };
    await Promise.all(leases.flatMap((lease, who) => [1, 2, 3].map((n) => lease.run(work(who, n)))));
    for (const who of [0, 1])
      expect(seen.filter((one) => one.startsWith(`${who}`))).toEqual([`${who} 1`, `${who} 2`, `${who} 3`]);
    await Promise.all(leases.map((lease) => lease.close()));
  });

  it('tells before it goes, and goes also when that fails', async () => {
    const store = await make();
    let ended = 0;
    const lease = leaseOf(store, async () => {
      ended += 1;
      throw new TypeError('no');
    });
    await lease.run(async () => {});
    await sleep(60);
    expect([ended, await lease.holds()]).toEqual([1, false]);
    await lease.run(async () => {});
    await lease.close();
    expect(ended).toBe(2);
    expect(await store.process().leases.inspect(LEASE)).toBeNull();
  });

  it('gives up work inside its own, which would wait for ever, and goes on', async () => {
    const lease = new SharedLease((await make()).process().leases, LEASE, { waitMs: 40 });
    let ran = false;
    const inside = lease.run(() => lease.run(async () => void (ran = true)));
    await expect(inside).rejects.toMatchObject({ code: 'LEASE_HELD' });
    expect(await lease.run(async () => 'next')).toBe('next');
    expect(ran).toBe(false);
    await lease.close();
  });

  it('takes work that was begun inside its own but is not waited for', async () => {
    const lease = leaseOf(await make());
    let later: Promise<string> | null = null;
    await lease.run(async () => void (later = lease.run(async () => 'done')));
    expect(await later).toBe('done');
    await lease.close();
  });
});

describe('a shared lease', () => {
  it('waits longer for works that end one after the other', async () => {
    const lease = new SharedLease(new MemoryStorage().leases, LEASE, { waitMs: 300 });
    const works = [1, 2, 3, 4].map((n) => lease.run(() => sleep(100, n)));
    expect(await Promise.all(works)).toEqual([1, 2, 3, 4]);
    await lease.close();
  });
});

describe('a journal that was removed', () => {
  it.each([
    ['with more records', [10, 20, 30, 40]],
    ['with as many records', [10, 20, 30]],
    ['with fewer records', [10]],
  ])('and begun again %s is noticed, and loaded from the start', async (_, adds) => {
    const store = await fileStore();
    const [one, other] = [new Instance(store.process()), new Instance(store.process())];
    for (const add of [1, 2, 3]) await one.add(add);
    expect(await other.read()).toBe(6);
    await one.close();
    const backend = store.process();
    const lease = await backend.leases.acquire(LEASE);
    expect(await backend.removeJournal(JOURNAL, lease)).toBe(true);
    expect(await backend.removeJournal(JOURNAL, lease)).toBe(false);
    await lease.release();
    const next = new Instance(store.process());
    const sum = adds.reduce((a, b) => a + b);
    for (const add of adds) await next.add(add);
    expect(await other.read()).toBe(sum);
    await next.close();
    expect(await other.add()).toBe(sum + 1);
    await sleep(60);
    expect(await other.read()).toBe(sum + 1);
  });
});
