/** Fresh stores of every kind, and all that a store holds, so that two of them can be compared. */
import { createHash } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import type { Journal, Name, StorageBackend } from '../../src/storage/ports.js';
import type { StorageTarget } from '../../src/storage/testing/index.js';
import { fileTarget, memoryTarget, postgresTarget, sqliteTarget } from './conformance-targets.js';

/** Nothing is synced: what is tested here is not power loss. */
const relaxed = { durability: 'relaxed' } as const;
const postgres = postgresTarget();

export const FILE = fileTarget('files', relaxed);
export const TINY_FILE = fileTarget('tiny segments', { ...relaxed, segmentBytesMax: 200 });
export const SMALL_FILE = fileTarget('small segments', { ...relaxed, segmentBytesMax: 20_000 });
export const MEMORY: StorageTarget = { ...memoryTarget(), name: 'memory' };
export const SQLITE: StorageTarget = { ...sqliteTarget(), name: 'SQLite' };
/** With PostgreSQL when a server is there. */
export const TARGETS: readonly StorageTarget[] = [
  MEMORY,
  FILE,
  SQLITE,
  ...(postgres ? [{ ...postgres, name: 'PostgreSQL' }] : []),
];

function pairsOf(targets: readonly (readonly [StorageTarget, StorageTarget])[]) {
  return targets.map(([from, to]) => ({ title: `${from.name} to ${to.name}`, from, to }));
}

/** From each kind of store to each other one, and files also to files. */
export const PAIRS = pairsOf(
  [TINY_FILE, ...TARGETS].flatMap((from) =>
    TARGETS.filter((to) => to !== from).map((to) => [from, to] as const),
  ),
);

/** The long tests take the others. */
export const QUICK_PAIRS = pairsOf([
  [MEMORY, FILE],
  [TINY_FILE, SQLITE],
]);

/** Destroyed when the test is over. */
export async function openStore(target: StorageTarget): Promise<StorageBackend> {
  const opened = await target.open();
  onTestFinished(() => opened.destroy());
  return opened.backend;
}

export interface JournalState {
  readonly head: readonly [number, string | null];
  /** Null where nothing is to be read without the archive. */
  readonly firstLive: number | null;
  readonly records: readonly (readonly [number, string | null, string])[];
}

/** Of a journal, which is opened for reading only. */
export async function journalState(backend: StorageBackend, name: Name): Promise<JournalState> {
  const journal = await backend.openJournal<JsonObject>(name, { readOnly: true });
  try {
    const records: [number, string | null, string][] = [];
    for await (const entry of journal.read({ archived: true })) {
      if (entry.kind === 'damage') continue;
      records.push([entry.seq, entry.crc, digestOf(JSON.stringify(entry.record))]);
    }
    const { seq } = await journal.head();
    // Of what was removed a store need not know the checksum.
    const crc = records.at(-1)?.[1] ?? null;
    return { head: [seq, crc], firstLive: await firstOf(journal), records };
  } finally {
    await journal.close();
  }
}

async function firstOf(journal: Journal<JsonObject>): Promise<number | null> {
  for await (const entry of journal.read({ limit: 1 })) if (entry.kind === 'record') return entry.seq;
  return null;
}

/** Everything, by kind and name. */
export async function stateOf(backend: StorageBackend, prefix: Name = []): Promise<Record<string, unknown>> {
  const state: Record<string, unknown> = {};
  for await (const { kind, name } of backend.contents(prefix)) {
    const key = `${kind} ${JSON.stringify(name)}`;
    if (kind === 'journal') state[key] = await journalState(backend, name);
    else if (kind === 'document') state[key] = digestOf((await backend.documents.readBytes(name)) ?? 'gone');
    else {
      const blobs: string[] = [];
      for await (const { digest, size } of backend.blobs(name).list()) {
        const bytes = await backend.blobs(name).get(digest);
        blobs.push(`${digest} ${size} ${bytes && digestOf(bytes) === digest ? 'whole' : 'damaged'}`);
      }
      state[key] = blobs.sort();
    }
  }
  return state;
}

export function digestOf(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export async function appendTo(
  backend: StorageBackend,
  name: Name,
  records: readonly JsonObject[],
  then: (journal: Journal<JsonObject>) => Promise<void> = async () => {},
): Promise<void> {
  const journal = await backend.openJournal<JsonObject>(name);
  // A file is sealed between two appends only.
  for (let at = 0; at < records.length; at += 2) await journal.append(records.slice(at, at + 2));
  await then(journal);
  await journal.close();
}

export function numbered(from: number, to: number): JsonObject[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ({
    n: from + index,
    text: 'some text of a record',
  }));
}
