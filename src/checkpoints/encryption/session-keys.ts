/**
 * The data keys of one session, in `keys.json` beside its checkpoints, each wrapped by a master key. A data key never leaves its
 * session; a new master key rewraps it, and no blob is written anew.
 */
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import { canonicalJson } from '../../core/canonical-json.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import { lazySchema } from '../../core/schema-check.js';
import { parseChecked } from '../../storage/json-document.js';
import type { Documents, Name } from '../../storage/ports.js';
import { keyUnavailable, type MasterKey, type MasterKeys } from './master-keys.js';
import { KEY_BYTES, open, seal } from './sealing.js';

/** One data key, as what it is used for. */
export interface DataKey {
  readonly id: string;
  readonly seal: Buffer;
  /** A code for a record at its place: nobody without the key can make one. */
  macOf(session: string, seq: number, record: JsonObject): string;
  /** The digest of a context, so that it tells nothing to those who guess at contents. */
  digestOf(digest: string): string;
}

interface WrappedKey {
  readonly id: string;
  /** The id of the master key. */
  readonly master: string;
  readonly wrapped: string;
}

interface KeyDocument {
  readonly format: 1;
  /** The last one is in use. */
  readonly keys: readonly WrappedKey[];
}

const Wrapped = Type.Object({ id: Type.String(), master: Type.String(), wrapped: Type.String() });
const checkDocument = lazySchema(
  Type.Object({ format: Type.Literal(1), keys: Type.Array(Wrapped, { minItems: 1 }) }),
);

/** Random nonces may be used about so often under one key; NIST SP 800-38D allows 2^32. */
export const MESSAGES_PER_KEY = 2 ** 30;

export class SessionKeys {
  readonly #documents: Documents;
  readonly #name: Name;
  readonly #session: string;
  readonly #masters: MasterKeys;
  readonly #known = new Map<string, DataKey>();

  constructor(documents: Documents, folder: Name, session: string, masters: MasterKeys) {
    this.#documents = documents;
    this.#name = [...folder, 'keys.json'];
    this.#session = session;
    this.#masters = masters;
  }

  /** What was unwrapped before; undefined otherwise. */
  known(id: string): DataKey | undefined {
    return this.#known.get(id);
  }

  /** @throws KEY_UNAVAILABLE when it is lost, or its master key is, or is another one */
  async get(id: string): Promise<DataKey> {
    const known = this.#known.get(id);
    if (known) return known;
    const wrapped = (await this.#read())?.keys.find((key) => key.id === id);
    if (wrapped) return this.#learn(id, await this.#unwrap(wrapped));
    throw keyUnavailable(`The data key ${id} of this session is not in its keys.json.`, {
      session: this.#session,
      key: id,
      reason: 'missing',
    });
  }

  /**
   * The key to write with: the last one, or a new one when there is none, or when it was used often enough. The caller holds the lease.
   * @param master what to wrap a first key with
   * @throws KEY_UNAVAILABLE
   */
  async forWriting(master: () => Promise<MasterKey>, isWornOut: (key: DataKey) => boolean): Promise<DataKey> {
    const document = await this.#read();
    const last = document?.keys.at(-1);
    const key = last ? await this.get(last.id) : null;
    if (key && !isWornOut(key)) return key;
    const id = randomBytes(8).toString('hex');
    const bytes = randomBytes(KEY_BYTES);
    const keys = [...(document?.keys ?? []), this.#wrap(id, bytes, await master())];
    await this.#write({ format: 1, keys });
    return this.#learn(id, bytes);
  }

  /** True when any key is here. */
  async exists(): Promise<boolean> {
    return (await this.#read()) !== null;
  }

  /**
   * Wraps every key with this master key. The caller holds the lease. How many were wrapped with another.
   * @throws KEY_UNAVAILABLE with everything as it was
   */
  async rewrap(master: MasterKey): Promise<number> {
    const document = await this.#read();
    if (!document) return 0;
    const old = document.keys.filter((key) => key.master !== master.id);
    if (old.length === 0) return 0;
    const keys: WrappedKey[] = [];
    for (const key of document.keys)
      keys.push(key.master === master.id ? key : this.#wrap(key.id, await this.#unwrap(key), master));
    await this.#write({ format: 1, keys });
    return old.length;
  }

  #wrap(id: string, bytes: Buffer, master: MasterKey): WrappedKey {
    const wrapped = seal(master.bytes, bytes, this.#boundTo(id, master.id)).toString('base64');
    return { id, master: master.id, wrapped };
  }

  async #unwrap({ id, master: masterId, wrapped }: WrappedKey): Promise<Buffer> {
    const details = { session: this.#session, key: id, master: masterId, place: this.#masters.place };
    const master = await this.#masters.find(masterId);
    if (!master)
      throw keyUnavailable(`The master key ${masterId} is not in ${this.#masters.place}.`, {
        ...details,
        reason: 'wrong key',
      });
    const bytes = open(master.bytes, Buffer.from(wrapped, 'base64'), this.#boundTo(id, masterId));
    if (bytes?.length === KEY_BYTES) return bytes;
    throw keyUnavailable('The data key of this session was changed.', { ...details, reason: 'damaged' });
  }

  #boundTo(id: string, master: string): string {
    return canonicalJson(['rekindle data key', 1, this.#session, id, master]);
  }

  #learn(id: string, bytes: Buffer): DataKey {
    const key = dataKeyOf(id, bytes);
    this.#known.set(id, key);
    return key;
  }

  async #read(): Promise<KeyDocument | null> {
    const bytes = await this.#documents.readBytes(this.#name);
    if (!bytes) return null;
    try {
      return (await parseChecked(this.#name, bytes, checkDocument())) as unknown as KeyDocument;
    } catch (cause) {
      const details = { session: this.#session, reason: 'damaged' };
      throw keyUnavailable('The keys.json of this session is damaged.', details, cause);
    }
  }

  async #write(document: KeyDocument): Promise<void> {
    await this.#documents.write(this.#name, document as unknown as JsonValue);
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
