/** Several appends at once share one write and one sync; each is acknowledged for itself. */
import type { Workload } from '../workload.js';
import { checkJournal, JournalSession } from './journal-session.js';

export const groupCommit: Workload = {
  name: 'group-commit',
  alphabet: ['append', 'gather 2', 'gather 4', 'batch 3'],
  start: (process) => JournalSession.start(process),
  check: (process) => checkJournal(process),
};
