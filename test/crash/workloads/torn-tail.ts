/**
 * A journal that already ends in damage when it is opened, and crashes while that is mended. Others leave torn bytes,
 * a whole line without its newline, or a line that is no record; all of it must be kept, in place or aside.
 */
import type { SimulatedDisk } from '../../../src/storage/simulated/simulated-disk.js';
import type { Fact } from '../history.js';
import { runningProcess } from '../simulated-process.js';
import { demand, openStorage, type RunningProcess, type Session, STORE, type Workload } from '../workload.js';
import { checkJournal, JOURNAL, JournalSession } from './journal-session.js';

const LIVE = `${STORE}/${JOURNAL.join('/')}.jsonl`;

class TornTailSession implements Session {
  readonly #inner: JournalSession;
  readonly #process: RunningProcess;
  #foreign = 0;

  constructor(inner: JournalSession, process: RunningProcess) {
    this.#inner = inner;
    this.#process = process;
  }

  async apply(operation: string): Promise<void> {
    if (operation === 'torn') await this.#leave('{"text":"torn-1","_seq":', null);
    else if (operation === 'garbage') await this.#leave('no record at all\n', null);
    else if (operation === 'foreign') await this.#leaveForeignLine();
    else await this.#inner.apply(operation);
  }

  dispose(): Promise<void> {
    return this.#inner.dispose();
  }

  /** Written by another tool, without number, checksum and newline: a record all the same. */
  async #leaveForeignLine(): Promise<void> {
    const text = `f${this.#process.identity.owner().pid}-${++this.#foreign}`;
    await this.#leave(`{"text":"${text}"}`, text);
  }

  /** Another tool appends bytes, durably, while the journal is closed. */
  async #leave(bytes: string, text: string | null): Promise<void> {
    // After a take-over a torn tail stays until the first append seals it: no one may write behind it.
    if (this.#inner.journal.openingDamage().some((damage) => damage.setAside === undefined)) return;
    const { seq } = await this.#inner.journal.head();
    await this.#inner.close();
    const ack = text === null ? null : this.#process.history.begin({ kind: 'foreign', text });
    await appendRaw(this.#process.disk, bytes);
    ack?.({ seq: seq + 1 });
    await this.#inner.open();
  }
}

async function appendRaw(disk: SimulatedDisk, text: string): Promise<void> {
  const file = await disk.open(LIVE, 'update');
  await file.write(Buffer.from(text), await file.sizeBytes());
  await file.datasync();
  await file.close();
}

async function prepare(disk: SimulatedDisk): Promise<readonly Fact[]> {
  const process = runningProcess(disk, 0, [], {});
  const storage = openStorage(process);
  const journal = await storage.openJournal<{ text: string }>(JOURNAL);
  const { seq } = await journal.append([{ text: 'old-1' }]);
  await storage.close();
  demand(seq === 1, () => 'the first number is 1');
  return [{ fact: { kind: 'append', text: 'old-1' }, acked: { seq } }];
}

export const tornTail: Workload = {
  name: 'torn-tail',
  alphabet: ['torn', 'foreign', 'garbage', 'append', 'reopen'],
  prepare,
  start: async (process) => new TornTailSession(await JournalSession.start(process), process),
  check: (process) => checkJournal(process),
};
