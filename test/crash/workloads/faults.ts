/** Appends that meet a failing disk: short writes, a full disk, failed syncs; then crashes. */
import { isRekindleError } from '../../../src/core/errors.js';
import type { Fault } from '../../../src/storage/simulated/faulty-file-system.js';
import { demand, type RunningProcess, type Session, type Workload } from '../workload.js';
import { checkJournal, JournalSession, readAll } from './journal-session.js';

const OPTIONS = { segmentBytesMax: 150 };

const FAULTS: Readonly<Record<string, Fault>> = {
  'short write': { at: 1, kind: 'short', only: (call) => call === 'file.write' },
  'full disk': { at: 1, kind: 'ENOSPC', effect: 'half', only: (call) => call === 'file.write' },
  'failed sync': { at: 1, kind: 'EIO', only: (call) => call === 'file.datasync' },
  'failed folder sync': { at: 1, kind: 'EIO', only: (call) => call === 'syncFolder' },
  'failed cut': {
    at: 1,
    kind: 'EIO',
    effect: 'half',
    sticky: true,
    only: (call) => call === 'file.write' || call === 'file.truncate',
  },
};

const EXPECTED = ['STORAGE_FULL', 'STORAGE_FAILED', 'JOURNAL_OUTCOME_UNKNOWN'] as const;

class FaultSession implements Session {
  readonly #inner: JournalSession;
  readonly #process: RunningProcess;

  constructor(inner: JournalSession, process: RunningProcess) {
    this.#inner = inner;
    this.#process = process;
  }

  async apply(operation: string): Promise<void> {
    const fault = FAULTS[operation];
    if (!fault) return this.#inner.apply(operation);
    this.#process.faults.setFault(fault);
    const text = this.#inner.newText();
    let failure: unknown = null;
    try {
      await this.#inner.append([text]);
    } catch (thrown) {
      failure = thrown;
    }
    this.#process.faults.setFault(null);
    if (failure === null) return;
    this.#process.history.doubt((fact) => fact['text'] === text);
    await this.#checkRejected(failure, text);
  }

  dispose(): Promise<void> {
    this.#process.faults.setFault(null);
    return this.#inner.dispose();
  }

  /** A typed error; and where nothing was kept, as all but an unknown outcome promise, nothing is read. */
  async #checkRejected(thrown: unknown, text: string): Promise<void> {
    if (!EXPECTED.some((code) => isRekindleError(thrown, code))) throw thrown;
    const found = await readAll(this.#inner.journal);
    demand(
      !found.some((record) => record.text === text),
      () => `${text} was rejected, and is read all the same`,
    );
  }
}

export const faults: Workload = {
  name: 'faults',
  alphabet: ['append', ...Object.keys(FAULTS)],
  start: async (process) => new FaultSession(await JournalSession.start(process, OPTIONS), process),
  check: (process) => checkJournal(process, OPTIONS),
};
