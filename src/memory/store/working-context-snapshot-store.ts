/**
 * Reads and writes the cache of one agent. I/O only; the bootstrapper interprets it.
 *
 * A save adds new messages in place, in one write without sync. The file is rewritten (temporary file and rename) after
 * a change of an older message, after a compaction, or if there is no file of ours to add to. A file that is not ours
 * to overwrite (damaged, foreign, or of AutoByteus) is moved aside first. A newer release's file is never touched.
 */
import { isRekindleError, messageOf, RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Message } from '../../messages/message.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import type { WorkingContextSnapshot } from '../working-context-snapshot.js';
import { assertPlainJson } from '../working-context-snapshot-serializer.js';
import {
  decodeSnapshot,
  encodeSnapshot,
  encodeTail,
  type SnapshotBody,
  type SnapshotFile,
  type SnapshotFooter,
} from './snapshot-file.js';
import { storageAt } from './storage-at.js';

export const SNAPSHOT_FILE = 'working_context_snapshot.json';

export interface SavedSnapshot {
  readonly bytesWritten: number;
  readonly whole: boolean;
  /** The new name of a file that was not ours. */
  readonly setAside: string | null;
}

const SET_ASIDE = 'set-aside';
/** Maximum number of foreign files that are kept next to the cache. */
const SET_ASIDE_MAX = 3;

/**
 * Reads and writes the snapshot file of an agent: `agents/<agentId>/working_context_snapshot.json` below a base folder.
 * ```ts
 * const store = new WorkingContextSnapshotStore('memory', 'desk');
 * const document = await store.read('desk');
 * await store.close();
 * ```
 */
export class WorkingContextSnapshotStore {
  readonly agentId: string;
  readonly #backend: StorageBackend;
  readonly #isOwn: boolean;
  /** The known state of our file; null if the next save must write it whole. */
  #body: SnapshotBody | null = null;
  #onDisk: 'absent' | 'ours' | 'not-ours' | 'newer' = 'absent';

  /**
   * @param place an open backend, or a base folder or other address, as `openStorage` takes it. Does no I/O
   * @throws INVALID_ARGUMENT for an address that is not known
   */
  constructor(place: StorageBackend | string, agentId: string) {
    const { backend, isOwn } = storageAt(place);
    this.#backend = backend;
    this.#isOwn = isOwn;
    this.agentId = agentId;
  }

  /** Closes the storage if this store opened it, by its folder or address. A given backend stays open. */
  async close(): Promise<void> {
    if (this.#isOwn) await this.#backend.close();
  }

  #name(agentId: string): Name {
    return ['agents', agentId, SNAPSHOT_FILE];
  }

  async exists(agentId: string = this.agentId): Promise<boolean> {
    return (await this.#backend.documents.readBytes(this.#name(agentId))) !== null;
  }

  /** The snapshot document; null if absent. @throws DOCUMENT_DAMAGED */
  async read(agentId: string = this.agentId): Promise<JsonObject | null> {
    const document = await this.#backend.documents.read(this.#name(agentId));
    return (document?.value as JsonObject | undefined) ?? null;
  }

  /**
   * Writes a whole snapshot document with all its members, durably. The agent's next save moves it aside and writes its own file.
   * @throws MESSAGE_INVALID for a value that is not JSON; nothing is written then
   */
  async write(agentId: string, payload: Readonly<Record<string, unknown>>): Promise<void> {
    assertPlainJson(payload);
    const stored = this.#backend.redactor?.json(payload) ?? payload;
    await this.#backend.documents.write(this.#name(agentId), stored);
    if (agentId === this.agentId) {
      this.#body = null;
      this.#onDisk = 'not-ours';
    }
  }

  /** The file with its verdict; null if absent. An unreadable file gives a verdict too, because the traces need no cache. */
  async load(): Promise<SnapshotFile | null> {
    let bytes: Uint8Array | null;
    try {
      bytes = await this.#backend.documents.readBytes(this.#name(this.agentId));
    } catch (thrown) {
      const status = unusable(thrown);
      if (!status) throw thrown;
      this.#body = null;
      this.#onDisk = 'not-ours';
      return { status, detail: messageOf(thrown) };
    }
    if (!bytes) {
      this.#onDisk = 'absent';
      return null;
    }
    const file = await decodeSnapshot(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
      this.agentId,
    );
    this.#onDisk = file.status === 'newer' ? 'newer' : file.status === 'valid' ? 'ours' : 'not-ours';
    this.#body = file.status === 'valid' ? file.body : null;
    return file;
  }

  /** The next save moves the file aside: it has our format, but belongs to another line of history. */
  disown(): void {
    this.#body = null;
    if (this.#onDisk === 'ours') this.#onDisk = 'not-ours';
  }

  /** The next save rewrites our whole file. */
  rewriteNext(): void {
    this.#body = null;
  }

  /** Updates the file. @throws UNSUPPORTED_VERSION if a newer release's file is in its place */
  async save(snapshot: WorkingContextSnapshot, footer: SnapshotFooter): Promise<SavedSnapshot> {
    if (this.#onDisk === 'newer') {
      throw new RekindleError(
        'UNSUPPORTED_VERSION',
        `${SNAPSHOT_FILE} was written by a newer release and is not changed.`,
        {
          details: { file: SNAPSHOT_FILE },
        },
      );
    }
    const inPlace = this.#body !== null && snapshot.firstChanged >= this.#body.messageCount;
    const changedFrom = snapshot.firstChanged;
    snapshot.markSaved(snapshot.length); // changes during this save belong to the next one
    try {
      return inPlace
        ? await this.#saveTail(this.#body!, snapshot.messages, footer)
        : await this.#saveWhole(snapshot.buildMessages(), footer);
    } catch (thrown) {
      this.#body = null;
      snapshot.markSaved(Math.min(changedFrom, snapshot.firstChanged));
      throw thrown;
    }
  }

  /** The list is read synchronously: it may change as soon as this waits. */
  async #saveTail(
    body: SnapshotBody,
    messages: readonly Message[],
    footer: SnapshotFooter,
  ): Promise<SavedSnapshot> {
    const tail = encodeTail(body, messages, footer);
    await this.#backend.documents.overwriteTail(this.#name(this.agentId), body.bytes, tail.bytes);
    this.#body = tail.body;
    return { bytesWritten: tail.bytes.length, whole: false, setAside: null };
  }

  async #saveWhole(messages: readonly Message[], footer: SnapshotFooter): Promise<SavedSnapshot> {
    const name = this.#name(this.agentId);
    const setAside = this.#onDisk === 'not-ours' ? await this.#setAside(name) : null;
    const whole = await encodeSnapshot(this.agentId, messages, footer);
    await this.#backend.documents.writeBytes(name, whole.bytes, { durability: 'cache' });
    this.#onDisk = 'ours';
    this.#body = whole.body;
    return { bytesWritten: whole.bytes.length, whole: true, setAside };
  }

  /** Only the newest few are kept: each may be valuable, but a damaged disk produces them without end. */
  async #setAside(name: Name): Promise<string | null> {
    const { documents } = this.#backend;
    const moved = await documents.setAside(name, SET_ASIDE);
    const folder = name.slice(0, -1);
    const kept = (await documents.list(folder)).filter((file) =>
      file.startsWith(`${SNAPSHOT_FILE}.${SET_ASIDE}-`),
    );
    if (kept.length <= SET_ASIDE_MAX) return moved;
    const dated: { readonly file: string; readonly ms: number }[] = [];
    for (const file of kept) dated.push({ file, ms: (await documents.modifiedMs([...folder, file])) ?? 0 });
    const oldest = dated
      .filter(({ file }) => file !== moved)
      .sort((a, b) => a.ms - b.ms)
      .slice(0, kept.length - SET_ASIDE_MAX);
    for (const { file } of oldest) await documents.delete([...folder, file]);
    return moved;
  }
}

/** Null for an error that does not show damage of the file. A sealed store finds damage before the file can be decoded. */
function unusable(thrown: unknown): 'damaged' | 'unreadable' | null {
  if (isRekindleError(thrown, 'DOCUMENT_DAMAGED')) return 'damaged';
  const isUnreadable = isRekindleError(thrown, 'STORAGE_FAILED') || isRekindleError(thrown, 'PATH_REFUSED');
  return isUnreadable ? 'unreadable' : null;
}
