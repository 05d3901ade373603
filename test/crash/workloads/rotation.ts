/** Segments of a few records each: sealing, going on in the next one, setting old ones aside. */
import type { Workload } from '../workload.js';
import { checkJournal, JournalSession } from './journal-session.js';

const OPTIONS = { segmentBytesMax: 100 };

export const rotation: Workload = {
  name: 'rotation',
  alphabet: ['append', 'batch 3', 'archive', 'reopen'],
  start: (process) => JournalSession.start(process, OPTIONS),
  check: (process) => checkJournal(process, OPTIONS),
};
