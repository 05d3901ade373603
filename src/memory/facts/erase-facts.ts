/** Erases the facts that came from one agent from the journals of subjects, which several agents share. */
import { type Clock, systemClock } from '../../core/clock.js';
import { newId } from '../../core/ids.js';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { isJournalAside, storedRecords } from '../../storage/erasure/journal-rows.js';
import { inJournal } from '../../storage/erasure/shared-writing.js';
import type { Journal, Name, StorageBackend, StoredPlace } from '../../storage/ports.js';
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

/** Selects rows of a journal of facts. */
export type FactPicker = (row: JsonObject, seq: number) => boolean;

/** Facts whose trace names the agent. */
export function subjectFactsOf(backend: StorageBackend, agent: string, clock: Clock = systemClock) {
  return subjectFacts(backend, () => (row) => isFactOf(row, agent), clock);
}

/** @param pickerFor the rows to erase of each subject's journal */
export function subjectFacts(
  backend: StorageBackend,
  pickerFor: (journal: Name) => FactPicker,
  clock: Clock = systemClock,
) {
  return {
    look: async (): Promise<StoredPlace[]> => {
      const places: StoredPlace[] = [];
      for (const { journal } of await subjectJournals(backend))
        places.push(...(await find(backend, journal, pickerFor(journal))).places);
      return places;
    },
    erase: async (): Promise<void> => {
      for (const place of await subjectJournals(backend)) {
        const picks = pickerFor(place.journal);
        if ((await find(backend, place.journal, picks)).places.length > 0)
          await inJournal(backend, place, (journal) =>
            eraseFacts(backend, { name: place.journal, journal }, picks, clock),
          );
      }
    },
  };
}

/** Facts of other origin that a removed fact had replaced, and that were gone since, stay gone. */
export async function eraseFacts(
  backend: StorageBackend,
  { name, journal }: { readonly name: Name; readonly journal: Journal<JsonObject> },
  picks: FactPicker,
  clock: Clock = systemClock,
): Promise<void> {
  const { seqs, gone } = await find(backend, name, picks);
  const nowMs = clock.nowMs();
  const mark = { id: newId('mark', nowMs), ts: nowMs / 1000, mark: 'forget', ids: gone } as const;
  // Written first: after a crash, the next call still finds the facts.
  if (gone.length > 0) await journal.append([markToJson(mark)]);
  await journal.erase(seqs);
}

async function find(backend: StorageBackend, name: Name, picks: FactPicker): Promise<Found> {
  const [before, after] = [new FactTable(), new FactTable()];
  const seqs: number[] = [];
  let bytes = 0;
  for await (const { seq, record } of storedRecords(backend, name)) {
    before.apply(record, seq);
    if (!picks(record, seq)) {
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

export function isFactOf({ trace }: JsonObject, agent: string): boolean {
  return isJsonObject(trace) && trace['agent_id'] === agent;
}

/** The fact that finally replaced it was forgotten or purged. */
export function wasGone(table: FactTable, id: string): boolean {
  const seen = new Set<string>();
  let entry: FactEntry | null = table.get(id);
  while (entry?.replacedBy && !seen.has(entry.item.id)) {
    seen.add(entry.item.id);
    entry = table.get(entry.replacedBy);
  }
  return entry !== null && entry.gone !== null;
}
