/**
 * Master keys from the environment: `REKINDLE_MASTER_KEY`, and while keys are rotated the ones before it in
 * `REKINDLE_MASTER_KEY_PREVIOUS`, separated by commas. Each is 32 bytes as base64 or hex.
 */
import { keyUnavailable, type MasterKey, type MasterKeys, masterKeyOf, parseKey } from './master-keys.js';

export type Environment = Readonly<Record<string, string | undefined>>;

const CURRENT = 'REKINDLE_MASTER_KEY';
const PREVIOUS = 'REKINDLE_MASTER_KEY_PREVIOUS';

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

  /** Whoever sets the variables has put the new one in its place. */
  renew(): null {
    return null;
  }

  async forgetOld(): Promise<void> {}
}

function parsed(text: string, place: string): MasterKey {
  const bytes = parseKey(text);
  if (bytes) return masterKeyOf(bytes);
  throw keyUnavailable(`${place} is no key: 32 bytes as base64 or hex are.`, { place, reason: 'malformed' });
}
