import { randomBytes } from 'node:crypto';
import { tryParseJson } from '../../core/json.js';
import { Type } from '../../core/schema.js';
import { lazySchema } from '../../core/schema-check.js';
import { KEY_BYTES } from './aes-seal.js';
import { keyUnavailable, type MasterKey, type MasterKeys, masterKeyOf, parseKey } from './master-keys.js';

/** A place that stores one secret text. */
export interface SecretPlace {
  /** Its name, for messages. */
  readonly name: string;
  /** Null if there is none. @throws KEY_UNAVAILABLE if it cannot be read, or other users can read it */
  read(): Promise<string | null>;
  /** Durable when it resolves. @throws KEY_UNAVAILABLE; also if one exists although `isNew` is set */
  write(text: string, isNew: boolean): Promise<void>;
}

const checkKeys = lazySchema(
  Type.Object({ format: Type.Literal(1), keys: Type.Array(Type.String(), { minItems: 1 }) }),
);

/**
 * Master keys that this library creates and stores: in a file (`KeyFile`) or in the system's keychain
 * (`Keychain`).
 */
export class StoredKeys implements MasterKeys {
  readonly #secret: SecretPlace;

  constructor(secret: SecretPlace) {
    this.#secret = secret;
  }

  get place(): string {
    return this.#secret.name;
  }

  async current(): Promise<MasterKey | null> {
    return (await this.#keys())[0] ?? null;
  }

  async find(id: string): Promise<MasterKey | null> {
    return (await this.#keys()).find((key) => key.id === id) ?? null;
  }

  async renew(): Promise<MasterKey> {
    const known = await this.#keys();
    const key = masterKeyOf(randomBytes(KEY_BYTES));
    await this.#write([key, ...known], known.length === 0);
    return key;
  }

  async forgetOld(): Promise<void> {
    const [current, ...old] = await this.#keys();
    if (current && old.length > 0) await this.#write([current], false);
  }

  #write(keys: readonly MasterKey[], isNew: boolean): Promise<void> {
    const text = JSON.stringify({ format: 1, keys: keys.map(({ bytes }) => bytes.toString('base64')) });
    return this.#secret.write(`${text}\n`, isNew);
  }

  /** The current one first. */
  async #keys(): Promise<MasterKey[]> {
    const text = await this.#secret.read();
    if (text === null) return [];
    const value = tryParseJson(text);
    const keys = checkKeys()(value) ? (value as { keys: string[] }).keys.map(parseKey) : [null];
    if (keys.every((key) => key !== null)) return keys.map(masterKeyOf);
    throw keyUnavailable(`${this.place} does not contain valid master keys.`, {
      place: this.place,
      reason: 'malformed',
    });
  }
}
