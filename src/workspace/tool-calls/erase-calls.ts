/** Removes calls from a shared log, with the values that only those calls reference. */
import type { JsonObject } from '../../core/json.js';
import { isJournalAside, storedRecords } from '../../storage/erasure/journal-rows.js';
import { underLease } from '../../storage/erasure/shared-writing.js';
import type { Name, StorageBackend, StoredPlace } from '../../storage/ports.js';
import { type CallChunk, listChunks } from './call-chunks.js';

interface Calls {
  /** Record numbers by chunk. */
  readonly own: Map<CallChunk, number[]>;
  readonly places: readonly StoredPlace[];
  /** Digests that no other call references. */
  readonly values: readonly string[];
}

const REF = /^sha256:([0-9a-f]{64})$/;

/** Selects records of a log. */
export type CallPicker = (record: JsonObject) => boolean;

/** @param folder of the workspace */
export function agentCalls(backend: StorageBackend, folder: Name, agent: string) {
  return loggedCalls(backend, folder, (record) => record['agent'] === agent);
}

/** @param folder of the workspace */
export function loggedCalls(backend: StorageBackend, folder: Name, picks: CallPicker) {
  const log = [...folder, 'tool_calls'];
  return {
    look: async () => (await find(backend, log, picks)).places,
    erase: () => erase(backend, folder, log, picks),
  };
}

async function erase(backend: StorageBackend, folder: Name, log: Name, picks: CallPicker): Promise<void> {
  if ((await listChunks(backend, log)).length === 0) return;
  await underLease(backend, [...folder, 'tool_calls.lease'], async (lease) => {
    const { own, values } = await find(backend, log, picks);
    // Values first: as long as a call references them, they are known to belong to it.
    for (const digest of values) await backend.blobs([...log, 'values']).delete(digest);
    for (const chunk of await listChunks(backend, log)) {
      const journal = await backend.openJournal<JsonObject>(chunk.name, { lease });
      const seqs = [...own].find(([{ name }]) => name.at(-1) === chunk.name.at(-1))?.[1] ?? [];
      await journal.erase(seqs).finally(() => journal.close());
    }
  });
}

async function find(backend: StorageBackend, log: Name, picks: CallPicker): Promise<Calls> {
  const own = new Map<CallChunk, number[]>();
  const places: StoredPlace[] = [];
  const [mine, others] = [new Set<string>(), new Set<string>()];
  for (const chunk of await listChunks(backend, log)) {
    const seqs: number[] = [];
    let bytes = 0;
    for await (const { seq, record } of storedRecords(backend, chunk.name)) {
      const isOwn = picks(record);
      for (const field of ['input_ref', 'output_ref']) {
        const digest = REF.exec(String(record[field]))?.[1];
        if (digest) (isOwn ? mine : others).add(digest);
      }
      if (!isOwn) continue;
      seqs.push(seq);
      bytes += JSON.stringify(record).length;
    }
    if (seqs.length === 0) continue;
    own.set(chunk, seqs);
    places.push({ kind: 'journal', place: chunk.name.join('/'), items: seqs.length, bytes });
  }
  const values = [...mine].filter((digest) => !others.has(digest));
  if (values.length > 0) places.push(await sizeOf(backend, [...log, 'values'], new Set(values)));
  for await (const found of backend.places(log))
    if (isJournalAside(found.kind, found.place)) places.push(found);
  return { own, places: places.filter(({ items }) => items > 0), values };
}

async function sizeOf(
  backend: StorageBackend,
  scope: Name,
  digests: ReadonlySet<string>,
): Promise<StoredPlace> {
  let [items, bytes] = [0, 0];
  for await (const { digest, size } of backend.blobs(scope).list()) {
    if (!digests.has(digest)) continue;
    items += 1;
    bytes += size;
  }
  return { kind: 'blobs', place: scope.join('/'), items, bytes };
}
