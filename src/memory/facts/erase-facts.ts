/** Erases the facts that came from one agent from the journals of subjects, which several agents share. */
import { type Clock, systemClock } from '../../core/clock.js';
import { newId } from '../../core/ids.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { isJournalAside, storedRecords } from '../../storage/erasure/journal-rows.js';
import { inJournal } from '../../storage/erasure/shared-writing.js';
import type { Name, StorageBackend, StoredPlace } from '../../storage/ports.js';
import type { FactEntry } from './fact.js';
import { markToJson } from './fact-mark.js';
import { FactTable } from './fact-table.js';
import { subjectJournals } from './subject-facts.js';

interface Found {
  readonly seqs: readonly number[];
  readonly places: readonly StoredPlace[];
  /** Facts of other agents that stay gone although the agent's fact that replaced them is erased. */
  readonly gone: readonly string[];
}

/** Facts whose trace names the agent. */
export function subjectFactsOf(backend: StorageBackend, agent: string, clock: Clock = systemClock) {
  return {
    look: async (): Promise<StoredPlace[]> => {
      const places: StoredPlace[] = [];
      for (const { journal } of await subjectJournals(backend))
        places.push(...(await find(backend, journal, agent)).places);
      return places;
    },
    erase: async (): Promise<void> => {
      for (const place of await subjectJournals(backend))
        if ((await find(backend, place.journal, agent)).places.length > 0)
          await erase(backend, place, agent, clock);
    },
  };
}

async function erase(
  backend: StorageBackend,
  place: { readonly journal: Name; readonly lease: Name },
  agent: string,
  clock: Clock,
): Promise<void> {
  await inJournal(backend, place, async (journal) => {
    const { seqs, gone } = await find(backend, place.journal, agent);
    const nowMs = clock.nowMs();
    const mark = { id: newId('mark', nowMs), ts: nowMs / 1000, mark: 'forget', ids: gone } as const;
    // Written first: after a crash, the next call still finds the facts.
    if (gone.length > 0) await journal.append([markToJson(mark)]);
    await journal.erase(seqs);
  });
}

async function find(backend: StorageBackend, name: Name, agent: string): Promise<Found> {
  const [before, after] = [new FactTable(), new FactTable()];
  const seqs: number[] = [];
  let bytes = 0;
  for await (const { seq, record } of storedRecords(backend, name)) {
    before.apply(record, seq);
    if (!isFrom(record, agent)) {
      after.apply(record, seq);
      continue;
    }
    seqs.push(seq);
    bytes += JSON.stringify(record).length;
  }
  const places: StoredPlace[] = [];
  if (seqs.length > 0) places.push({ kind: 'journal', place: name.join('/'), items: seqs.length, bytes });
  for await (const found of backend.places(name.slice(0, -1)))
    if (isJournalAside(found.kind, found.place)) places.push(found);
  const wouldStand = after.standing().map(({ id }) => id);
  return { seqs, places, gone: wouldStand.filter((id) => wasGone(before, id)) };
}

function isFrom({ trace }: JsonObject, agent: string): boolean {
  return isJsonObject(trace) && trace['agent_id'] === agent;
}

/** The fact that finally replaced it was forgotten or purged. */
function wasGone(table: FactTable, id: string): boolean {
  const seen = new Set<string>();
  let entry: FactEntry | null = table.get(id);
  while (entry?.replacedBy && !seen.has(entry.item.id)) {
    seen.add(entry.item.id);
    entry = table.get(entry.replacedBy);
  }
  return entry !== null && entry.gone !== null;
}
