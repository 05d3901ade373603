/**
 * Documents as objects, one each. A durable write is one request. A cache is written later, and only its newest content: its
 * writer is acknowledged at once, and a crash loses it, as the port allows.
 */
import { versionOf } from '../../document-encoding.js';
import { keyOf } from '../../name-key.js';
import { SerialCalls } from '../../serial-calls.js';
import type { SqlOperations } from '../../sql/sql-engine.js';
import type { ConditionalObjects, ObjectStorage, WriteCondition } from '../object-storage.js';
import { DOCUMENTS, documentAt, prefixOf } from './object-places.js';
import { WaitingCaches } from './waiting-caches.js';

interface Known {
  /** Of the object. */
  readonly version: string;
  /** Of the content. */
  readonly digest: string;
}

const KNOWN_MAX = 10_000;
const CHANGED_MAX = 20;

export class DocumentObjects {
  readonly #objects: ObjectStorage;
  readonly #cas: ConditionalObjects;
  /** As this process last read or wrote them. */
  readonly #known = new Map<string, Known>();
  readonly #waiting: WaitingCaches;
  readonly #calls = new SerialCalls();

  constructor(objects: ObjectStorage, cas: ConditionalObjects) {
    this.#objects = objects;
    this.#cas = cas;
    this.#waiting = new WaitingCaches((key) => this.#calls.run(key, () => this.#upload(key)));
  }

  async read({ key }: { readonly key: string }): Promise<{ readonly bytes: Uint8Array } | null> {
    const name = documentAt(key);
    const waiting = this.#waiting.get(key);
    if (waiting) return { bytes: Buffer.from(waiting.bytes) };
    const object = await this.#cas.read(name);
    if (object) this.#remember(key, object.version, object.bytes);
    else this.#known.delete(key);
    return object && { bytes: object.bytes };
  }

  write(
    request: Parameters<SqlOperations['writeDocument']>[0],
  ): Promise<ReturnType<SqlOperations['writeDocument']>> {
    const { key, bytes, ifVersion, cache } = request;
    return this.#calls.run(key, async () => {
      if (ifVersion !== undefined) {
        await this.#upload(key);
        return this.#writeIfVersion(key, bytes, ifVersion);
      }
      if (cache && this.#known.has(key)) this.#waiting.set(key, bytes);
      else {
        this.#waiting.delete(key);
        await this.#put(key, bytes, {});
      }
      return null;
    });
  }

  async #writeIfVersion(
    key: string,
    bytes: Uint8Array,
    expected: string | null,
  ): Promise<{ readonly conflict: string | null } | null> {
    for (let tried = 1; ; tried += 1) {
      const known = this.#known.get(key) ?? (await this.#look(key));
      const digest = known?.digest ?? null;
      if (digest === expected) {
        const condition = known ? { ifMatch: known.version } : ({ ifAbsent: true } as const);
        if (await this.#put(key, bytes, condition)) return null;
      }
      // What this process knew may be old, and another version may have the same content.
      const now = (await this.#look(key))?.digest ?? null;
      if (now !== expected || tried === CHANGED_MAX) return { conflict: now };
    }
  }

  overwriteTail(
    request: Parameters<SqlOperations['overwriteTail']>[0],
  ): Promise<ReturnType<SqlOperations['overwriteTail']>> {
    const { key, offset, bytes } = request;
    return this.#calls.run(key, async () => {
      const base = this.#waiting.base(key) ?? (await this.read({ key }))?.bytes ?? null;
      if (!base || base.length < offset) return { size: base?.length ?? null };
      this.#waiting.set(key, Buffer.concat([base.subarray(0, offset), bytes]));
      return null;
    });
  }

  async #look(key: string): Promise<Known | null> {
    const object = await this.#cas.read(documentAt(key));
    if (object) return this.#remember(key, object.version, object.bytes);
    this.#known.delete(key);
    return null;
  }

  async #put(key: string, bytes: Uint8Array, condition: WriteCondition): Promise<boolean> {
    const before = this.#known.get(key);
    this.#known.delete(key); // until the answer is known
    this.#waiting.forgetBase(key);
    const version = await this.#cas.writeIf(documentAt(key), bytes, condition);
    if (version === null) return false;
    if (before || this.#known.size < KNOWN_MAX) this.#remember(key, version, bytes);
    return true;
  }

  #remember(key: string, version: string, bytes: Uint8Array): Known {
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    const known = { version, digest: versionOf(bytes) };
    this.#known.set(key, known);
    return known;
  }

  /** If another process has changed or deleted the document, its version stays. */
  async #upload(key: string): Promise<void> {
    const waiting = this.#waiting.get(key);
    const known = this.#known.get(key);
    if (!waiting) return;
    if (!known) return this.#waiting.delete(key);
    this.#known.delete(key);
    const version = await this.#cas.writeIf(documentAt(key), waiting.bytes, { ifMatch: known.version });
    if (version !== null) this.#remember(key, version, waiting.bytes);
    this.#waiting.done(key, waiting.bytes, version !== null);
  }

  async modifiedMs({ key }: { readonly key: string }): Promise<number | null> {
    const name = documentAt(key);
    return this.#waiting.get(key)?.sinceMs ?? (await this.#objects.stat(name))?.modifiedMs ?? null;
  }

  /** A crash in between leaves both. */
  rename({ key, to }: { readonly key: string; readonly to: string }): Promise<boolean> {
    return this.#calls.run(key, async () => {
      const bytes = (await this.read({ key }))?.bytes;
      if (!bytes || !(await this.#put(to, bytes, { ifAbsent: true }))) return false;
      this.forget(key);
      await this.#objects.delete(documentAt(key));
      return true;
    });
  }

  delete({ key }: { readonly key: string }): Promise<boolean> {
    return this.#calls.run(key, async () => {
      this.forget(key);
      return this.#objects.delete(documentAt(key));
    });
  }

  /** Nothing of it is written any more. */
  forget(key: string): void {
    this.#waiting.delete(key);
    this.#known.delete(key);
  }

  /** Keys of documents with content that is not yet written. */
  waitingKeys(): string[] {
    return this.#waiting.keys();
  }

  async list(range: Parameters<SqlOperations['listDocuments']>[0]): Promise<string[]> {
    const prefix = prefixOf(range);
    const keys: string[] = [];
    for await (const { name } of this.#objects.list([DOCUMENTS, ...prefix]))
      if (name.length === 1) keys.push(keyOf([...prefix, ...name]));
    return keys;
  }

  /** Writes the caches that wait. Failures lose only them. */
  flush(): Promise<void> {
    return this.#waiting.flush();
  }
}
