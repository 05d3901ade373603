/** Appends of one process after another: single records, several in one call, one longer than a sector. */
import type { Workload } from '../workload.js';
import { checkJournal, JournalSession } from './journal-session.js';

export const journalAppend: Workload = {
  name: 'journal-append',
  alphabet: ['append', 'batch 2', 'long', 'reopen'],
  start: (process) => JournalSession.start(process),
  check: (process) => checkJournal(process),
};
