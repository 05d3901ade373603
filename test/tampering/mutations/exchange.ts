/** Files that are genuine, in a place that is not theirs or at a time that is not theirs. */
import type { SeededRandom } from '../../../src/storage/simulated/seeded-random.js';
import { isJournal } from '../journal-files.js';
import type { SessionFiles, StoredSession } from '../stores.js';
import { isPack, labelOf, type Mutation, pickOf, replaced } from './mutation.js';

const isKeys = (name: string): boolean => name === 'keys.json';
/** A whole journal, or the whole folder with data, of one session in another. */
const take = (from: SessionFiles, is: (name: string) => boolean) => [...from].filter(([name]) => is(name));

export const EXCHANGES: readonly Mutation[] = [
  {
    kind: 'packs swapped within',
    crafted: false,
    apply({ files }, _, random) {
      const packs = take(files, isPack);
      const [a, b] = [random.pick(packs), random.pick(packs)];
      if (a === b) return null;
      const changed = replaced(replaced(files, a[0], b[1]), b[0], a[1]);
      return { files: changed, what: `${labelOf(files, a[0])} and ${labelOf(files, b[0])}` };
    },
  },
  fromOther('pack of another session', isPack),
  fromOther('keys.json of another session', isKeys),
  {
    kind: 'journal of another session',
    crafted: false,
    apply(session, others, random) {
      const other = pickOf(random, alike(session, others));
      if (!other) return null;
      const kept = [...session.files].filter(([name]) => !isJournal(name));
      return { files: new Map([...kept, ...take(other.files, isJournal)]), what: `of ${other.id}` };
    },
  },
  {
    kind: 'all of another session',
    crafted: false,
    apply(session, others, random) {
      const other = session.sealed ? pickOf(random, alike(session, others)) : null;
      return other && { files: other.files, what: `of ${other.id}` };
    },
  },
  {
    kind: 'file as it was',
    crafted: false,
    apply({ files, history }, _, random) {
      const [name, bytes] = pickOf(
        random,
        [...files].filter(([name]) => !isPack(name)),
      )!;
      const older = history.flatMap((past) => past.get(name) ?? []).filter((past) => !past.equals(bytes));
      const chosen = random.below(Math.max(1, older.length));
      const past = older[chosen];
      return past ? { files: replaced(files, name, past), what: `${name}, state ${chosen}` } : null;
    },
  },
  {
    kind: 'session as it was',
    crafted: false,
    apply({ history }, _, random) {
      const step = random.below(history.length - 1);
      return { files: history[step]!, what: `after step ${step + 1}` };
    },
  },
];

/** Of the same kind: a session that is not sealed may be replaced as a whole by one that is, and says so. */
function alike(session: StoredSession, others: readonly StoredSession[]): StoredSession[] {
  return others.filter(({ sealed }) => sealed === session.sealed);
}

/** The bytes of one file get the name of another one. */
function fromOther(kind: string, is: (name: string) => boolean): Mutation {
  return {
    kind,
    crafted: false,
    apply(session, others, random: SeededRandom) {
      const mine = pickOf(random, take(session.files, is));
      const other = random.pick(others);
      const theirs = pickOf(random, take(other.files, is));
      if (!mine || !theirs) return null;
      const what = `${labelOf(session.files, mine[0])} is ${labelOf(other.files, theirs[0])} of ${other.id}`;
      return { files: replaced(session.files, mine[0], theirs[1]), what };
    },
  };
}
