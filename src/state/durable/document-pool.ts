/** The durable documents of a store, by name. Each is opened at its first use, and all are closed together. */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { StorageBackend } from '../../storage/ports.js';
import { definitionOf, documentNames } from './migrate-documents.js';
import { compileState, type StateDefinition } from './state-definition.js';
import { StateManager } from './state-manager.js';
import type { StateDocuments } from './tools/mounted-state.js';

export class DocumentPool {
  readonly #backend: StorageBackend;
  readonly #definitions: readonly StateDefinition[];
  readonly #open = new Map<string, StateManager<JsonObject>>();

  /** Reads nothing yet. @throws INVALID_ARGUMENT for an invalid definition */
  constructor(backend: StorageBackend, definitions: readonly StateDefinition[]) {
    for (const definition of definitions) compileState(definition);
    this.#backend = backend;
    this.#definitions = definitions;
  }

  /** Every document of the store, sorted; also those without a definition. */
  names(): Promise<string[]> {
    return documentNames(this.#backend);
  }

  /** An existing document; it is not created. @throws STATE_NOT_FOUND if it does not exist, or no definition fits its name */
  async get(name: string): Promise<StateManager<JsonObject>> {
    const known = this.#open.get(name);
    if (known) return known;
    const definition = definitionOf(this.#definitions, name);
    // Only existing ones are kept open: names come from clients.
    if (!definition || !(await this.names()).includes(name)) throw notFound(name, definition !== undefined);
    const { initial: _, ...rest } = definition;
    const manager = new StateManager<JsonObject>({ ...rest, name, backend: this.#backend });
    const other = this.#open.get(name); // opened by another request meanwhile
    if (!other) this.#open.set(name, manager);
    return other ?? manager;
  }

  /** Loads documents, to be mounted as tools under their names. @throws STATE_NOT_FOUND, and as `StateManager.load` */
  async mounted(names: readonly string[]): Promise<StateDocuments> {
    const documents: Record<string, StateManager<JsonObject>> = {};
    for (const name of names) {
      const manager = await this.get(name);
      await manager.load();
      documents[name] = manager;
    }
    return documents;
  }

  async close(): Promise<void> {
    for (const manager of this.#open.values()) await manager.close();
    this.#open.clear();
  }
}

function notFound(name: string, hasDefinition: boolean): RekindleError {
  const why = hasDefinition ? '' : ', or no definition of it is known';
  return new RekindleError('STATE_NOT_FOUND', `There is no document ${JSON.stringify(name)} here${why}.`, {
    details: { name },
  });
}
