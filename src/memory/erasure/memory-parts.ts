/**
 * Erases a part of an agent from its memory. What replaces it is appended first, while everything is still readable: a
 * note of the erasure, summaries of what stays, and the new context. Then the records and all that was made from them
 * go. Each step can be repeated.
 */
import { newId } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import type { SharedPart } from '../../storage/erasure/erase-places.js';
import type { PartTarget } from '../../storage/erasure/erasure-marker.js';
import { headSeq, isJournalAside, storedRecords } from '../../storage/erasure/journal-rows.js';
import type { Journal, Lease, Name, StorageBackend, StoredPlace } from '../../storage/ports.js';
import { decisionsOn } from '../approvals/stored-decision.js';
import { eraseFacts, subjectFacts } from '../facts/erase-facts.js';
import { traceToJson } from '../models/trace-serializer.js';
import { RECALL_FOLDER } from '../recall/shard-store.js';
import { MEMORY_JOURNALS, type MemoryJournalName, MemoryStore } from '../store/memory-store.js';
import { keyOf } from '../store/tool-call-ledger.js';
import { SNAPSHOT_FILE } from '../store/working-context-snapshot-store.js';
import { noteErased } from './erased-records.js';
import { contentOf, contextWithout, type PartScope } from './part-scope.js';
import { tracesName } from './part-traces.js';
import { changeOfSummaries, episodicName } from './remaining-memory.js';

/** What the parts have in common. */
export interface PartPlace {
  readonly backend: StorageBackend;
  readonly target: PartTarget;
  readonly scope: PartScope;
  /** Of the agent. Null for a dry run, which erases nothing. */
  readonly lease: Lease | null;
}

/** In the order in which they have to be erased. */
export function memoryParts(place: PartPlace): SharedPart[] {
  const { backend, scope } = place;
  const subjects = (journal: Name) => new Set(scope.subjects[journal.join('/')] ?? []);
  return [
    { look: async () => [], erase: () => appendRest(place) },
    { look: () => recordPlaces(place), erase: () => eraseRecords(place) },
    { look: () => documentPlaces(place), erase: () => deleteDocuments(place) },
    { look: () => artifactPlaces(place), erase: () => deleteArtifacts(place) },
    subjectFacts(backend, (journal) => {
      const seqs = subjects(journal);
      return (_, seq) => seqs.has(seq);
    }),
  ];
}

async function appendRest({ backend, target, scope, lease }: PartPlace): Promise<void> {
  const { agent } = target;
  await noteErased(backend, agent, scope.id, scope.records);
  if ((await headSeq(backend, tracesName(agent))) > scope.heads.raw_traces) return; // appended before a crash
  const content = await contentOf(backend, target);
  if ((await headSeq(backend, episodicName(agent))) === scope.heads.episodic) {
    const { rows } = await changeOfSummaries(backend, content.erased);
    if (rows.length > 0) await inOwn(backend, agent, 'episodic', lease, (journal) => journal.append(rows));
  }
  if (scope.traces.length + scope.episodic.length + scope.semantic.length === 0) return; // only facts of subjects go
  const { boundaries, reader } = await contextWithout(backend, content, scope, []);
  const store = new MemoryStore(backend, agent, lease);
  store.declare(reader);
  const nowMs = Date.now();
  const head = { ts: nowMs / 1000, turnId: '', seq: 0, sourceEvent: 'Erasure', type: 'boundary' } as const;
  const rows = boundaries.map((boundary) => traceToJson({ id: newId('rt', nowMs), ...head, boundary }));
  await store.addTraces(rows).finally(() => store.close());
}

function inOwn<T>(
  backend: StorageBackend,
  agent: string,
  name: MemoryJournalName,
  lease: Lease | null,
  work: (journal: Journal<JsonObject>) => Promise<T>,
): Promise<T> {
  const options = lease ? { lease } : { readOnly: true };
  return backend
    .openJournal<JsonObject>(['agents', agent, name], options)
    .then((journal) => work(journal).finally(() => journal.close()));
}

function seqsOf(scope: PartScope): Readonly<Record<MemoryJournalName, readonly number[]>> {
  const { traces, episodic, semantic, ledger, answerParts = [], inputs = [] } = scope;
  return {
    raw_traces: traces,
    episodic,
    semantic,
    pending_calls: ledger,
    answer_parts: answerParts,
    inputs,
  };
}

async function recordPlaces({ backend, target, scope }: PartPlace): Promise<StoredPlace[]> {
  const folder = ['agents', target.agent];
  const places: StoredPlace[] = [];
  for (const name of MEMORY_JOURNALS) {
    const seqs = new Set(seqsOf(scope)[name]);
    let [items, bytes] = [0, 0];
    for await (const { seq, record } of storedRecords(backend, [...folder, name])) {
      if (!seqs.has(seq)) continue;
      items += 1;
      bytes += JSON.stringify(record).length;
    }
    if (items > 0) places.push({ kind: 'journal', place: [...folder, name].join('/'), items, bytes });
  }
  for await (const place of backend.places(folder)) if (isOwnAside(place, folder)) places.push(place);
  return places;
}

/** Cut off one of the agent's own journals, or kept by a repair. The state of the agent has its own journals. */
function isOwnAside({ kind, place }: StoredPlace, folder: Name): boolean {
  const below = place.slice(folder.join('/').length + 1).split('/');
  return isJournalAside(kind, place) && MEMORY_JOURNALS.some((name) => below[0]?.startsWith(`${name}.`));
}

/** Also where no record goes: parts that were set aside may hold some. */
async function eraseRecords({ backend, target: { agent }, scope, lease }: PartPlace): Promise<void> {
  const seqs = seqsOf(scope);
  for (const name of MEMORY_JOURNALS)
    await inOwn(backend, agent, name, lease, async (journal) => {
      if (name !== 'semantic') return void (await journal.erase(seqs[name]));
      const facts = new Set(seqs.semantic);
      await eraseFacts(backend, { name: ['agents', agent, name], journal }, (_, seq) => facts.has(seq));
    });
}

/** The cache with its asides and the recall index, which are made again from the traces, and decisions on calls of the turns. */
async function documentsOf({ backend, target, scope }: PartPlace): Promise<Name[]> {
  const folder = ['agents', target.agent];
  const caches = (await backend.documents.list(folder)).filter((name) => name.startsWith(SNAPSHOT_FILE));
  const index = await backend.documents.list([...folder, RECALL_FOLDER]);
  const calls = new Set(scope.calls);
  const decisions = await decisionsOn(
    backend,
    target.agent,
    (call) => call.turnId === scope.turn || calls.has(keyOf(call)),
  );
  return [
    ...caches.map((name) => [...folder, name]),
    ...index.map((name) => [...folder, RECALL_FOLDER, name]),
    ...decisions,
  ];
}

async function documentPlaces(place: PartPlace): Promise<StoredPlace[]> {
  const places: StoredPlace[] = [];
  for (const name of await documentsOf(place)) {
    const bytes = (await place.backend.documents.readBytes(name))?.length;
    if (bytes !== undefined) places.push({ kind: 'document', place: name.join('/'), items: 1, bytes });
  }
  return places;
}

async function deleteDocuments(place: PartPlace): Promise<void> {
  for (const name of await documentsOf(place)) await place.backend.documents.delete(name);
  for (const scope of [[], ['artifacts'], [RECALL_FOLDER]])
    await place.backend.sweep(['agents', place.target.agent, ...scope]);
}

async function artifactPlaces({ backend, target, scope }: PartPlace): Promise<StoredPlace[]> {
  const name = ['agents', target.agent, 'artifacts'];
  const wanted = new Set(scope.artifacts);
  let [items, bytes] = [0, 0];
  if (wanted.size > 0)
    for await (const { digest, size } of backend.blobs(name).list()) {
      if (!wanted.has(digest)) continue;
      items += 1;
      bytes += size;
    }
  return items === 0 ? [] : [{ kind: 'blobs', place: name.join('/'), items, bytes }];
}

async function deleteArtifacts({ backend, target, scope }: PartPlace): Promise<void> {
  const blobs = backend.blobs(['agents', target.agent, 'artifacts']);
  for (const digest of scope.artifacts) await blobs.delete(digest);
}
