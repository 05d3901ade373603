/**
 * The data keys of one session, in its `keys.json`, each wrapped by a master key. A data key is used only for
 * its session. A new master key rewraps it, and no data is rewritten.
 */
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { canonicalJson } from '../../core/canonical-json.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import { Type } from '../../core/schema.js';
import { lazySchema } from '../../core/schema-check.js';
import { parseChecked } from '../../storage/json-document.js';
import type { Documents, Name } from '../../storage/ports.js';
import { KEY_BYTES, open, seal } from '../../storage/sealing/aes-seal.js';
import { keyUnavailable, type MasterKey, type MasterKeys } from '../../storage/sealing/master-keys.js';

/** One data key, as the keys derived from it. */
export interface DataKey {
  readonly id: string;
  readonly seal: Buffer;
  /** Authentication code of a record at its place; it needs the key. */
  macOf(session: string, seq: number, record: JsonObject): string;
  /** Keyed digest of a context, which does not help to guess its content. */
  digestOf(digest: string): string;
}

interface WrappedKey {
  readonly id: string;
  /** The id of the master key. */
  readonly master: string;
  /**
   * The first record number that it may have sealed. From the first key's number on, every record is sealed.
   */
  readonly from: number;
  readonly wrapped: string;
}

interface KeyDocument {
  readonly format: 1;
  /** The last one is in use. */
  readonly keys: readonly WrappedKey[];
}

/** When to make a new key, and with what. */
export interface KeyForWriting {
  /** The master key to wrap a new key with. */
  readonly master: () => Promise<MasterKey>;
  readonly isWornOut: (key: DataKey) => boolean;
  /** The number of the new record. */
  readonly seq: number;
  /** Keys that records name: none may be missing. */
  readonly needed: ReadonlySet<string>;
}

const Wrapped = Type.Object({
  id: Type.String(),
  master: Type.String(),
  from: Type.Integer({ minimum: 1 }),
  wrapped: Type.String(),
});
const checkDocument = lazySchema(
  Type.Object({ format: Type.Literal(1), keys: Type.Array(Wrapped, { minItems: 1 }) }),
);

/** Safe number of random nonces under one key; NIST SP 800-38D allows 2^32. */
export const MESSAGES_PER_KEY = 2 ** 30;

export class SessionKeys {
  readonly #documents: Documents;
  readonly #name: Name;
  readonly #session: string;
  readonly #masters: MasterKeys;
  readonly #known = new Map<string, DataKey>();
  /** The stored form of unwrapped keys: if it changes, the key must be unwrapped again. */
  readonly #stored = new Map<string, string>();
  #sealedFrom = Number.POSITIVE_INFINITY;

  constructor(documents: Documents, folder: Name, session: string, masters: MasterKeys) {
    this.#documents = documents;
    this.#name = [...folder, 'keys.json'];
    this.#session = session;
    this.#masters = masters;
  }

  /** A key that was unwrapped before; else undefined. */
  known(id: string): DataKey | undefined {
    return this.#known.get(id);
  }

  get isLoaded(): boolean {
    return this.#known.size > 0;
  }

  /** Records from this number on are sealed. Infinity if no key is known. */
  get sealedFrom(): number {
    return this.#sealedFrom;
  }

  /**
   * Unwraps all stored keys if some are not known yet. True if there are new ones. @throws KEY_UNAVAILABLE
   */
  async load(needed: ReadonlySet<string> = new Set()): Promise<boolean> {
    if (this.isLoaded && [...needed].every((id) => this.#known.has(id))) return false;
    const before = this.#known.size;
    for (const key of (await this.#read())?.keys ?? []) await this.#learn(key);
    return this.#known.size > before;
  }

  /** @throws KEY_UNAVAILABLE if it or its master key is lost or different */
  async get(id: string): Promise<DataKey> {
    if (!this.#known.has(id)) await this.load(new Set([id]));
    const key = this.#known.get(id);
    if (key) return key;
    throw this.#missing(id);
  }

  /** The key in use. @throws KEY_UNAVAILABLE */
  async newest(): Promise<DataKey> {
    const last = (await this.#read())?.keys.at(-1);
    if (last) return this.#learn(last);
    throw this.#missing('');
  }

  /**
   * The key to write with: the last one, or a new one if there is none or it was used often enough. The
   * caller must hold the lease.
   * @throws KEY_UNAVAILABLE, also if a key that records name is missing: it was lost and must not be replaced
   */
  async forWriting({ master, isWornOut, seq, needed }: KeyForWriting): Promise<DataKey> {
    const document = await this.#read();
    const stored = new Set(document?.keys.map(({ id }) => id));
    for (const id of needed) if (!stored.has(id)) throw this.#missing(id);
    for (const wrapped of document?.keys ?? []) if (needed.has(wrapped.id)) await this.#learn(wrapped);
    const last = document?.keys.at(-1);
    const key = last ? await this.#learn(last) : null;
    if (key && !isWornOut(key)) return key;
    const id = randomBytes(8).toString('hex');
    const made = this.#wrap({ id, from: seq }, randomBytes(KEY_BYTES), await master());
    await this.#write({ format: 1, keys: [...(document?.keys ?? []), made] });
    return this.#learn(made);
  }

  /** True if there is any key. @throws KEY_UNAVAILABLE if the document is damaged */
  async exists(): Promise<boolean> {
    return (await this.#read()) !== null;
  }

  /**
   * Wraps every key with this master key. The caller must hold the lease. Returns how many had another one;
   * null if there are none.
   * @throws KEY_UNAVAILABLE; nothing changes then
   */
  async rewrap(master: MasterKey): Promise<number | null> {
    const document = await this.#read();
    if (!document) return null;
    const old = document.keys.filter((key) => key.master !== master.id);
    if (old.length === 0) return 0;
    const keys: WrappedKey[] = [];
    for (const key of document.keys)
      keys.push(key.master === master.id ? key : this.#wrap(key, await this.#unwrap(key), master));
    await this.#write({ format: 1, keys });
    return old.length;
  }

  #wrap({ id, from }: Pick<WrappedKey, 'id' | 'from'>, bytes: Buffer, master: MasterKey): WrappedKey {
    const bound = this.#boundTo(id, from, master.id);
    return { id, master: master.id, from, wrapped: seal(master.bytes, bytes, bound).toString('base64') };
  }

  async #unwrap({ id, master: masterId, from, wrapped }: WrappedKey): Promise<Buffer> {
    const details = { sessionId: this.#session, key: id, master: masterId, place: this.#masters.place };
    const master = await this.#masters.find(masterId);
    if (!master)
      throw keyUnavailable(`The master key ${masterId} is not in ${this.#masters.place}.`, {
        ...details,
        reason: 'wrong key',
      });
    const bytes = open(master.bytes, Buffer.from(wrapped, 'base64'), this.#boundTo(id, from, masterId));
    if (bytes?.length === KEY_BYTES) return bytes;
    throw keyUnavailable('The data key of this session was changed.', { ...details, reason: 'damaged' });
  }

  #boundTo(id: string, from: number, master: string): string {
    return canonicalJson(['rekindle data key', 1, this.#session, id, from, master]);
  }

  async #learn(wrapped: WrappedKey): Promise<DataKey> {
    const known = this.#known.get(wrapped.id);
    const text = canonicalJson({ ...wrapped });
    if (known && this.#stored.get(wrapped.id) === text) return known;
    const key = dataKeyOf(wrapped.id, await this.#unwrap(wrapped));
    this.#known.set(wrapped.id, key);
    this.#stored.set(wrapped.id, text);
    this.#sealedFrom = Math.min(this.#sealedFrom, wrapped.from);
    return key;
  }

  async #read(): Promise<KeyDocument | null> {
    const bytes = await this.#documents.readBytes(this.#name);
    if (!bytes) return null;
    try {
      return (await parseChecked(this.#name, bytes, checkDocument())) as unknown as KeyDocument;
    } catch (cause) {
      const details = { sessionId: this.#session, reason: 'damaged' };
      throw keyUnavailable('The keys.json of this session is damaged.', details, cause);
    }
  }

  async #write(document: KeyDocument): Promise<void> {
    await this.#documents.write(this.#name, document as unknown as JsonValue);
  }

  #missing(id: string) {
    const details = { sessionId: this.#session, key: id, reason: 'missing' };
    return keyUnavailable('A data key of this session is not in its keys.json.', details);
  }
}

function dataKeyOf(id: string, bytes: Buffer): DataKey {
  const derive = (use: string): Buffer =>
    Buffer.from(hkdfSync('sha256', bytes, '', `rekindle checkpoint ${use}`, KEY_BYTES));
  const macKey = derive('record');
  const digestKey = derive('digest');
  return {
    id,
    seal: derive('data'),
    macOf: (session, seq, record) =>
      createHmac('sha256', macKey)
        .update(canonicalJson([session, seq, record]))
        .digest('base64url'),
    digestOf: (digest) => createHmac('sha256', digestKey).update(digest).digest('hex'),
  };
}
