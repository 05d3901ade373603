import { messageOf, RekindleError } from '../../core/errors.js';
import { keyUnavailable } from './master-keys.js';
import type { SecretPlace } from './stored-keys.js';

/** The used part of `@napi-rs/keyring`. */
export interface KeyringEntry {
  getPassword(): string | null;
  setPassword(text: string): void;
}
export interface KeyringPackage {
  readonly Entry: new (service: string, account: string) => KeyringEntry;
}

const SERVICE = 'rekindle';
const ACCOUNT = 'checkpoint master keys';
/** Apart from those of checkpoints: each kind may forget its old keys. */
export const STORE_ACCOUNT = 'store master keys';

/** Stores the master keys in the system's keychain. Needs the optional package `@napi-rs/keyring`. */
export class Keychain implements SecretPlace {
  readonly name = 'the keychain of the system';
  readonly #load: () => Promise<KeyringPackage>;
  readonly #account: string;

  constructor(load: () => Promise<KeyringPackage> = loadKeyring, account = ACCOUNT) {
    this.#load = load;
    this.#account = account;
  }

  async read(): Promise<string | null> {
    const entry = await this.#entry();
    return this.#tell(() => entry.getPassword());
  }

  async write(text: string, isNew: boolean): Promise<void> {
    const entry = await this.#entry();
    this.#tell(() => {
      if (!isNew || entry.getPassword() === null) return entry.setPassword(text);
      throw keyUnavailable('The keychain has got keys meanwhile.', { place: this.name, reason: 'conflict' });
    });
  }

  async #entry(): Promise<KeyringEntry> {
    const { Entry } = await this.#load();
    return this.#tell(() => new Entry(SERVICE, this.#account));
  }

  /**
   * A machine without a display often has no usable keychain. That is reported; no other place is used
   * instead.
   */
  #tell<T>(work: () => T): T {
    try {
      return work();
    } catch (thrown) {
      const problem = `The keychain cannot be used: ${messageOf(thrown)}`;
      throw keyUnavailable(problem, { place: this.name, reason: 'refused' }, thrown);
    }
  }
}

async function loadKeyring(): Promise<KeyringPackage> {
  try {
    return (await import('@napi-rs/keyring')) as unknown as KeyringPackage;
  } catch (cause) {
    throw new RekindleError(
      'DEPENDENCY_MISSING',
      'Keys in the keychain need the optional package @napi-rs/keyring.',
      { details: { package: '@napi-rs/keyring' }, cause },
    );
  }
}
