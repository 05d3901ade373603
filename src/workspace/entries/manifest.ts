/**
 * `_manifest.json`: the index of the workspace as a file, so that the cost of opening does not grow with the
 * history. It is a cache: it names the last record that it covers, and later records are applied. A lost or
 * damaged manifest is rebuilt from the journal.
 */
import { isRekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { type Static, Type } from '../../core/schema.js';
import { lazySchema } from '../../core/schema-check.js';
import { TimeSlices } from '../../core/time-slices.js';
import { followFrom, JOURNAL_START } from '../../storage/journal-position.js';
import { openJsonDocument } from '../../storage/json-document.js';
import type { Journal, JournalHead, Name, StorageBackend } from '../../storage/ports.js';
import { EntryIndex } from './entry-index.js';
import { cursorFrom } from './entry-record.js';

/** Segment and offset. */
const place = Type.Array(Type.Integer({ minimum: 0 }), { minItems: 2, maxItems: 2 });
const Manifest = Type.Object({
  schema_version: Type.Literal(1),
  /** The earliest write. Only for readers of the file: it follows from `agents`, so older manifests go without it. */
  created_at: Type.Optional(Type.String()),
  entries: Type.Array(
    Type.Object({
      key: Type.String(),
      version: Type.Integer({ minimum: 1 }),
      written_by: Type.String(),
      timestamp: Type.String(),
      size_bytes: Type.Integer({ minimum: 0 }),
      deleted: Type.Optional(Type.Literal(true)),
      at: place,
    }),
  ),
  agents: Type.Array(
    Type.Object({ agent: Type.String(), writes: Type.Integer(), first: Type.String(), last: Type.String() }),
  ),
  covers: Type.Union([
    Type.Null(),
    Type.Object({
      seq: Type.Integer({ minimum: 1 }),
      at: place,
      crc: Type.Union([Type.String(), Type.Null()]),
    }),
  ]),
});
type Manifest = Static<typeof Manifest>;

const check = lazySchema(Manifest);
const EMPTY: Manifest = { schema_version: 1, entries: [], agents: [], covers: null };
/** Below this size, a workspace does not write its manifest at every change. */
const SAVE_BYTES_MIN = 16 * 1024;
/** Approximate bytes of one entry in the manifest, to decide when to write it again. */
const ENTRY_BYTES = 160;

export class ManifestFile {
  readonly #backend: StorageBackend;
  readonly #name: Name;
  #since = 0;
  #damaged = false;

  constructor(backend: StorageBackend, folder: Name) {
    this.#backend = backend;
    this.#name = [...folder, '_manifest.json'];
  }

  /** The index at the end of the journal, and that end. Writes nothing. */
  async load(
    journal: Journal<JsonObject>,
  ): Promise<{ readonly index: EntryIndex; readonly head: JournalHead }> {
    const { index, covers } = await this.#read();
    const known = covers && (await followFrom(journal, covers, (entry) => index.apply(entry)));
    if (known) return { index, head: known };
    const fresh = new EntryIndex();
    const head = await followFrom(journal, JOURNAL_START, (entry) => fresh.apply(entry));
    return { index: fresh, head: head ?? JOURNAL_START };
  }

  async #read(): Promise<{ readonly index: EntryIndex; readonly covers: JournalHead | null }> {
    try {
      const { data } = await this.#open();
      this.#damaged = false;
      return { index: await indexFrom(data), covers: headFrom(data.covers) };
    } catch (thrown) {
      if (!isRekindleError(thrown, 'DOCUMENT_DAMAGED')) throw thrown;
      this.#damaged = true;
      return { index: new EntryIndex(), covers: null };
    }
  }

  #open() {
    const options = { name: this.#name, check: check(), initial: EMPTY, durability: 'cache' as const };
    return openJsonDocument<Manifest>(this.#backend.documents, options);
  }

  /** Notes that a record was appended. True if a new manifest is worth writing. */
  isDue(bytes: number, { entries }: EntryIndex): boolean {
    this.#since += bytes;
    return this.#since >= Math.max(SAVE_BYTES_MIN, entries.size * ENTRY_BYTES);
  }

  get isStale(): boolean {
    return this.#since > 0;
  }

  /** Writes the manifest. A damaged file is first moved aside. */
  async save(index: EntryIndex, head: JournalHead): Promise<void> {
    if (this.#damaged) await this.#backend.documents.setAside(this.#name, 'damaged');
    this.#damaged = false;
    const document = await this.#open();
    document.data = manifestOf(index, head);
    await document.write();
    this.#since = 0;
  }
}

function manifestOf(index: EntryIndex, head: JournalHead): Manifest {
  const entries = [...index.entries.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  const { createdAt } = index;
  return {
    schema_version: 1,
    ...(createdAt === null ? {} : { created_at: createdAt }),
    entries: entries.map(({ key, version, writtenBy, at, sizeBytes, deleted, cursor }) => ({
      key,
      version,
      written_by: writtenBy,
      timestamp: at,
      size_bytes: sizeBytes,
      ...(deleted ? { deleted: true as const } : {}),
      at: [cursor.segment, cursor.offset],
    })),
    agents: [...index.agents].map(([agent, { writes, firstAt, lastAt }]) => ({
      agent,
      writes,
      first: firstAt,
      last: lastAt,
    })),
    covers: head.cursor && { seq: head.seq, at: [head.cursor.segment, head.cursor.offset], crc: head.crc },
  };
}

async function indexFrom(manifest: Manifest): Promise<EntryIndex> {
  const index = new EntryIndex();
  const slices = new TimeSlices();
  for (const { key, version, written_by, timestamp, size_bytes, deleted = false, at } of manifest.entries) {
    if (slices.isOver) await slices.pause();
    const cursor = cursorFrom(at)!;
    const info = {
      key,
      version,
      writtenBy: written_by,
      at: timestamp,
      sizeBytes: size_bytes,
      deleted,
      cursor,
    };
    index.entries.set(key, info);
  }
  for (const { agent, writes, first, last } of manifest.agents)
    index.agents.set(agent, { writes, firstAt: first, lastAt: last });
  return index;
}

function headFrom(covers: Manifest['covers']): JournalHead | null {
  return covers && { seq: covers.seq, cursor: cursorFrom(covers.at), crc: covers.crc };
}
