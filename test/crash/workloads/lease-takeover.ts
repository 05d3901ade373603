/**
 * Two processes and one journal. A rival takes over once the lease of the first has run out; the first wakes up and
 * appends. Whatever is acknowledged, to whom and when, must be there after every crash.
 */
import { isRekindleError } from '../../../src/core/errors.js';
import type { Journal, Lease, StorageBackend } from '../../../src/storage/ports.js';
import type { ProcessIdentity } from '../../../src/storage/process-identity.js';
import { demand, openStorage, type RunningProcess, type Session, type Workload } from '../workload.js';
import { checkJournal, JOURNAL, type Note } from './journal-session.js';

const LEASE = ['agent'];
const TTL_MS = 10_000;

/** A writer with a lease of its own. Others are on another machine, as far as it knows: only time tells. */
class Writer {
  readonly #process: RunningProcess;
  readonly #pid: number;
  readonly #storage: StorageBackend;
  lease!: Lease;
  #journal!: Journal<Note>;
  #count = 0;

  constructor(process: RunningProcess, pid: number) {
    this.#process = process;
    this.#pid = pid;
    this.#storage = openStorage({ ...process, identity: onAnotherMachine(pid) });
  }

  async open(): Promise<void> {
    this.lease = await this.#storage.leases.acquire(LEASE, { ttlMs: TTL_MS });
    this.#journal = await this.#storage.openJournal<Note>(JOURNAL, { lease: this.lease });
  }

  async append(): Promise<void> {
    const text = `p${this.#pid}-${++this.#count}`;
    const ack = this.#process.history.begin({ kind: 'append', text });
    const { seq } = await this.#journal.append([{ text }]);
    ack({ seq });
  }

  async close(): Promise<void> {
    await this.#journal?.close();
    await this.lease?.release();
    await this.#storage.close();
  }
}

function onAnotherMachine(pid: number): ProcessIdentity {
  return {
    owner: () => ({ pid, processStart: null, host: `machine-${pid}`, nonce: `nonce-${pid}` }),
    state: (owner) => (owner.pid === pid ? 'running' : 'unknown'),
  };
}

class TakeOverSession implements Session {
  readonly #process: RunningProcess;
  readonly #writers: Writer[] = [];
  #started = 0;

  constructor(process: RunningProcess) {
    this.#process = process;
  }

  async start(): Promise<void> {
    await this.#takeOver(0);
  }

  async apply(operation: string): Promise<void> {
    const race = /^race (\d+)$/.exec(operation);
    if (operation === 'append') await this.#current().append();
    else if (operation === 'release') await this.#release();
    else if (operation === 'rival') await this.#takeOver(0);
    else if (operation === 'zombie') await this.#appendAsZombie();
    else if (race) await this.#race(Number(race[1]));
    else demand(false, () => `unknown operation ${operation}`);
  }

  async dispose(): Promise<void> {
    for (const writer of this.#writers) await writer.close().catch(() => {});
  }

  #current(): Writer {
    return this.#writers.at(-1)!;
  }

  async #release(): Promise<void> {
    await this.#writers.pop()!.close();
    await this.#takeOver(0);
  }

  /** The newest writer slept past its lease; another one comes, and appends. */
  async #takeOver(delay: number): Promise<void> {
    this.#process.clock.advance(2 * TTL_MS);
    for (let i = 0; i < delay; i++) await null;
    const writer = new Writer(
      this.#process,
      100 * (this.#process.identity.owner().pid + 1) + this.#started++,
    );
    await writer.open();
    this.#writers.push(writer);
    await writer.append();
  }

  /** The oldest writer wakes up. It is told that its lease is lost, or was not fenced off at all. */
  async #appendAsZombie(): Promise<void> {
    await this.#writers[0]!.append().catch(expectLost);
  }

  /** The current writer appends while a rival takes over, a few steps later. */
  async #race(delay: number): Promise<void> {
    const current = this.#current();
    const appends = (async () => {
      for (let i = 0; i < 3; i++) await current.append().catch(expectLost);
    })();
    await Promise.all([appends, this.#takeOver(delay)]);
  }
}

function expectLost(thrown: unknown): void {
  if (!isRekindleError(thrown, 'LEASE_LOST')) throw thrown;
}

export const leaseTakeover: Workload = {
  name: 'lease-takeover',
  alphabet: ['append', 'release', 'rival', 'zombie', 'race 0', 'race 25'],
  start: async (process) => {
    const session = new TakeOverSession(process);
    await session.start();
    return session;
  },
  check: (process) => checkJournal(process, {}, LEASE),
};
