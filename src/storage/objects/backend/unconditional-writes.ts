/**
 * For stores that cannot compare and set: a write looks first and then puts. That is safe only while one process writes, or
 * while a lease in another backend keeps other processes away.
 */
import { RekindleError } from '../../../core/errors.js';
import { versionOf } from '../../document-encoding.js';
import { keyOf } from '../../name-key.js';
import type { Name } from '../../ports.js';
import { SerialCalls } from '../../serial-calls.js';
import type {
  ConditionalObjects,
  ObjectStorage,
  VersionedObject,
  WriteCondition,
} from '../object-storage.js';

export class UnconditionalWrites implements ConditionalObjects {
  readonly #objects: ObjectStorage;
  readonly #calls = new SerialCalls();

  constructor(objects: ObjectStorage) {
    this.#objects = objects;
  }

  async read(name: Name): Promise<VersionedObject | null> {
    const bytes = await this.#objects.get(name);
    return bytes && { bytes, version: versionOf(bytes), ageMs: null };
  }

  writeIf(name: Name, bytes: Uint8Array, condition: WriteCondition): Promise<string | null> {
    return this.#calls.run(keyOf(name), async () => {
      const { ifAbsent, ifMatch } = condition;
      if (ifAbsent && (await this.#objects.stat(name))) return null;
      if (ifMatch !== undefined && (await this.read(name))?.version !== ifMatch) return null;
      await this.#objects.put(name, bytes);
      return versionOf(bytes);
    });
  }
}

/** Only reads: nothing says that no other process writes. */
export class RefusedWrites implements ConditionalObjects {
  readonly #objects: ObjectStorage;
  readonly #place: string;

  constructor(objects: ObjectStorage, place: string) {
    this.#objects = objects;
    this.#place = place;
  }

  read(name: Name): Promise<VersionedObject | null> {
    return new UnconditionalWrites(this.#objects).read(name);
  }

  async writeIf(): Promise<string | null> {
    throw new RekindleError(
      'INVALID_ARGUMENT',
      `${this.#place} cannot compare and set, so it cannot keep a second writer away. Nothing was written. Name a backend for the leases (?leases=postgres%3A%2F%2F...), or promise that only one process writes (?writers=one).`,
      { details: { place: this.#place } },
    );
  }
}
