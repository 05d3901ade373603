/** Copies documents between folders as plain values, without their schemas. */
import { canonicalJson } from '../../core/canonical-json.js';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { documentNames } from './migrate-documents.js';
import { versionOfDocument } from './state-definition.js';
import { StateLog } from './state-log.js';
import { StateManager } from './state-manager.js';

/** Documents with the attachments that they refer to. */
export interface CopiedDocuments {
  readonly values: { readonly [name: string]: JsonObject };
  /** Bytes by `sha256:` reference. A missing attachment is left out. */
  readonly attachments: ReadonlyMap<string, Uint8Array>;
}

const REFERENCE = /^sha256:([0-9a-f]{64})$/;

/**
 * The newest version of each document that has a journal. Writes nothing.
 * @param untilMs the newest version at this time (milliseconds since 1970); documents that began later are left out
 * @throws JOURNAL_DAMAGED if it cannot be determined, BLOB_DAMAGED
 */
export async function readDocuments(
  backend: StorageBackend,
  folder: Name,
  untilMs = Number.POSITIVE_INFINITY,
): Promise<CopiedDocuments> {
  const values: { [name: string]: JsonObject } = {};
  for (const name of await documentNames(backend, folder)) {
    const value = await readVersion(backend, folder, name, untilMs);
    if (value) values[name] = value;
  }
  const blobs = backend.blobs([...folder, 'artifacts']);
  const attachments = new Map<string, Uint8Array>();
  for (const reference of referencesIn(values)) {
    const bytes = await blobs.get(REFERENCE.exec(reference)![1]!);
    if (bytes) attachments.set(reference, bytes);
  }
  return { values, attachments };
}

async function readVersion(
  backend: StorageBackend,
  folder: Name,
  name: string,
  untilMs: number,
): Promise<JsonObject | null> {
  const log = new StateLog(backend, { folder, name, onVersion: () => {}, rescue: async () => null });
  try {
    await log.refresh();
    if (untilMs < Number.POSITIVE_INFINITY) return await valueAt(log, untilMs);
    if (log.lostAtEnd === 0) return log.current?.value ?? null;
    const place = [...folder, name].join('/');
    throw new RekindleError('JOURNAL_DAMAGED', `The newest version of ${place} is damaged.`, {
      details: { name: place },
    });
  } finally {
    await log.close();
  }
}

async function valueAt(log: StateLog, untilMs: number): Promise<JsonObject | null> {
  for await (const { version, at } of log.backward())
    if (Date.parse(at) <= untilMs) return (await log.at(version))?.value ?? null;
  return null;
}

function referencesIn(value: JsonValue, found: Set<string> = new Set()): Set<string> {
  if (typeof value === 'string') {
    if (REFERENCE.test(value)) found.add(value);
  } else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) referencesIn(item, found);
  return found;
}

/**
 * Begins documents with these values. A document that already has the same value stays as it is, so the call
 * may be repeated.
 * @throws INVALID_ARGUMENT for a value that is not a document (nothing is written then), or for a document
 * that has another value
 */
export async function beginDocuments(
  backend: StorageBackend,
  folder: Name,
  { values, attachments }: CopiedDocuments,
): Promise<void> {
  const schemas = assertDocuments(values);
  const blobs = backend.blobs([...folder, 'artifacts']);
  for (const bytes of attachments.values()) await blobs.put(bytes);
  for (const [name, schema] of schemas) {
    const initial = values[name]!;
    const state = await StateManager.open({ backend, folder, name, schema, initial });
    try {
      const { value } = await state.load();
      if (canonicalJson(value as JsonObject) !== canonicalJson(initial)) throw isThere(folder, name);
    } finally {
      await state.close();
    }
  }
}

/**
 * Checks only the minimum: the schema of a document is checked where it is opened. @throws INVALID_ARGUMENT
 */
export function assertDocuments(values: CopiedDocuments['values']) {
  return Object.entries(values).map(([name, value]) => [name, anySchemaOf(name, value)] as const);
}

function anySchemaOf(name: string, value: JsonObject) {
  const version = versionOfDocument(value);
  if (version === null)
    throw new RekindleError('INVALID_ARGUMENT', `${name} is not a document: it has no schema_version.`, {
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
  return new RekindleError('INVALID_ARGUMENT', `${place} already exists with another value.`, {
    details: { name: place },
  });
}
