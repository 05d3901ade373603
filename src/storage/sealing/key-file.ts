import { isRekindleError, messageOf } from '../../core/errors.js';
import { readPrivateFile, writePrivateFile } from '../file/private-file.js';
import { keyUnavailable } from './master-keys.js';
import type { SecretPlace } from './stored-keys.js';

/**
 * The file with the master keys (mode 0600, replaced atomically). Store it outside of the data folder, and
 * back it up separately.
 */
export class KeyFile implements SecretPlace {
  /** Its path. */
  readonly name: string;

  constructor(file: string) {
    this.name = file;
  }

  async read(): Promise<string | null> {
    const bytes = await this.#tell(() => readPrivateFile(this.name));
    return bytes && Buffer.from(bytes).toString('utf8');
  }

  write(text: string, isNew: boolean): Promise<void> {
    return this.#tell(() => writePrivateFile(this.name, Buffer.from(text), { isNew }));
  }

  async #tell<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      const reason = isRekindleError(thrown) ? thrown.code : 'unreadable';
      throw keyUnavailable(
        `The key file cannot be used: ${messageOf(thrown)}`,
        { place: this.name, reason },
        thrown,
      );
    }
  }
}
