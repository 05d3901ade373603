import { keyUnavailable, type MasterKey, type MasterKeys, masterKeyOf, parseKey } from './master-keys.js';

/** Variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

const CURRENT = 'REKINDLE_MASTER_KEY';
const PREVIOUS = 'REKINDLE_MASTER_KEY_PREVIOUS';

/**
 * Master keys from the environment: `REKINDLE_MASTER_KEY`, and during a rotation the previous ones in
 * `REKINDLE_MASTER_KEY_PREVIOUS`, separated by commas. Each is 32 bytes in base64 or hex.
 */
export class EnvironmentKeys implements MasterKeys {
  readonly place = CURRENT;
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  async current(): Promise<MasterKey> {
    const text = this.#environment[CURRENT];
    if (text !== undefined && text !== '') return parsed(text, CURRENT);
    throw keyUnavailable(`${CURRENT} is not set.`, { place: CURRENT, reason: 'missing' });
  }

  async find(id: string): Promise<MasterKey | null> {
    const older = (this.#environment[PREVIOUS] ?? '').split(',').filter((text) => text.trim() !== '');
    const known = [await this.current(), ...older.map((text) => parsed(text, PREVIOUS))];
    return known.find((key) => key.id === id) ?? null;
  }

  /** The user has already replaced the variable. */
  renew(): null {
    return null;
  }

  async forgetOld(): Promise<void> {}
}

function parsed(text: string, place: string): MasterKey {
  const bytes = parseKey(text);
  if (bytes) return masterKeyOf(bytes);
  throw keyUnavailable(`${place} is not a key. Set it to 32 bytes in base64 or hex.`, {
    place,
    reason: 'malformed',
  });
}
