/**
 * When sessions were last loaded from, in `access.json` of each session. Only informative: a lost or
 * unwritten file does no harm.
 */
import { Type } from '../core/schema.js';
import { lazySchema } from '../core/schema-check.js';
import { openJsonDocument } from '../storage/json-document.js';
import type { Documents, Name } from '../storage/ports.js';

const checkAccess = lazySchema(Type.Object({ last_accessed_at: Type.Union([Type.String(), Type.Null()]) }));

interface Access {
  last_accessed_at: string | null;
}

export class AccessTimes {
  readonly #documents: Documents;
  readonly #places: { folderOf(id: string): Name };
  readonly #nowMs: () => number;

  constructor(documents: Documents, places: { folderOf(id: string): Name }, nowMs: () => number) {
    this.#documents = documents;
    this.#places = places;
    this.#nowMs = nowMs;
  }

  async note(id: string): Promise<void> {
    try {
      const document = await this.#document(id);
      document.data.last_accessed_at = new Date(this.#nowMs()).toISOString();
      await document.write();
    } catch {
      // Reading goes on where nothing can be written.
    }
  }

  /** Null if unknown. */
  async of(id: string): Promise<string | null> {
    return this.#document(id).then(
      ({ data }) => data.last_accessed_at,
      () => null,
    );
  }

  #document(id: string) {
    return openJsonDocument<Access>(this.#documents, {
      name: [...this.#places.folderOf(id), 'access.json'],
      check: checkAccess(),
      initial: { last_accessed_at: null },
      durability: 'cache',
    });
  }
}
