/** Documents as values, out of one folder and into another one, without their schemas. */
import { canonicalJson } from '../../core/canonical-json.js';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { documentNames } from './migrate-documents.js';
import { versionOfDocument } from './state-definition.js';
import { StateLog } from './state-log.js';
import { StateManager } from './state-manager.js';

/** The newest version of each document that has a journal, by name. Writes nothing. @throws JOURNAL_DAMAGED */
export async function readDocuments(
  backend: StorageBackend,
  folder: Name,
): Promise<{ [name: string]: JsonObject }> {
  const values: { [name: string]: JsonObject } = {};
  for (const name of await documentNames(backend, folder)) {
    const log = new StateLog(backend, { folder, name, onVersion: () => {}, rescue: async () => null });
    try {
      await log.refresh();
      if (log.current) values[name] = log.current.value;
    } finally {
      await log.close();
    }
  }
  return values;
}

/**
 * Begins documents with these values. One that is there already with the same value is left as it is: this can be done again.
 * @throws INVALID_ARGUMENT for a value that is no document, or one that is there with another value
 */
export async function beginDocuments(
  backend: StorageBackend,
  folder: Name,
  values: { readonly [name: string]: JsonObject },
): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    const state = await StateManager.open({
      backend,
      folder,
      name,
      schema: anySchemaOf(name, value),
      initial: value,
    });
    try {
      const loaded = await state.load();
      if (canonicalJson(loaded.value as JsonObject) !== canonicalJson(value)) throw isThere(folder, name);
    } finally {
      await state.close();
    }
  }
}

/** What a document of this version has to have at least: its own schema is checked where it is opened. */
function anySchemaOf(name: string, value: JsonObject) {
  const version = versionOfDocument(value);
  if (version === null)
    throw new RekindleError('INVALID_ARGUMENT', `${name} is no document: it has no schema_version.`, {
      details: { name },
    });
  return {
    type: 'object',
    properties: { schema_version: { const: version } },
    required: ['schema_version'],
  } as const;
}

function isThere(folder: Name, name: string): RekindleError {
  const place = [...folder, name].join('/');
  return new RekindleError('INVALID_ARGUMENT', `${place} is there already, with another value.`, {
    details: { name: place },
  });
}
