/**
 * `rekindle state init`: begins a project's own document: two schemas, the migration between them, and an
 * initial value.
 */
import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { RekindleError } from '../core/errors.js';
import type { JsonObject } from '../core/json.js';
import { schemaFileOf } from '../state/durable/file-schema.js';
import { definitionAt, type StateDefinition } from '../state/durable/state-definition.js';
import { StateManager } from '../state/durable/state-manager.js';
import type { StorageBackend } from '../storage/ports.js';
import { writeNewFile } from './new-file.js';
import {
  BUILT_IN,
  DEFINITIONS_FOLDER,
  knownDefinition,
  loadDefinitions,
  requiredDefinition,
} from './state-definitions.js';

export interface InitResult {
  readonly name: string;
  readonly files: readonly string[];
  readonly schemaVersion: number;
  /** False if the document already existed. */
  readonly began: boolean;
  /** Where an installed package has its schema; undefined for a document of the project. */
  readonly schema?: string;
}

/** @throws INVALID_ARGUMENT for an invalid name, or if the files exist */
export async function initState(
  storage: StorageBackend,
  name: string,
  folder: string | undefined,
): Promise<InitResult> {
  const base = path.resolve(folder ?? DEFINITIONS_FOLDER);
  const declared = knownDefinition(
    await loadDefinitions(folder && (await isThere(base)) ? folder : undefined),
    name,
  );
  if (!declared) assertNewName(name);
  const files = declared ? [] : await scaffold(base, name);
  const first = declared ?? (await firstDefinition(base, name));
  const manager = new StateManager<JsonObject>({ ...first, backend: storage });
  try {
    const { current, pending } = await manager.inspect();
    const began = pending === 'create';
    const value = began ? (await manager.load()).value : current?.value; // an existing one does not change
    const schemaVersion = Number(value?.['schema_version'] ?? 0);
    const schema = shippedSchema(first);
    return { name: first.name, files, schemaVersion, began, ...(schema === null ? {} : { schema }) };
  } finally {
    await manager.close();
  }
}

/** @throws INVALID_ARGUMENT for a name that no file of the project can have */
function assertNewName(name: string): void {
  if (/^[a-z][a-z0-9_]{0,60}$/.test(name)) return;
  throw new RekindleError(
    'INVALID_ARGUMENT',
    'A name may have lower-case letters, digits and `_`, and must begin with a letter.',
    { details: { name } },
  );
}

function shippedSchema({ schema }: StateDefinition): string | null {
  const builtIn = BUILT_IN.find((definition) => definition.schema === schema);
  return builtIn ? `rekindle/${schemaFileOf(builtIn.name)}` : null;
}

/** A new document begins at version 1, so that its first migration can be tried at once. */
async function firstDefinition(base: string, name: string): Promise<StateDefinition> {
  const definition = requiredDefinition(await loadDefinitions(base), name);
  return { ...definitionAt(definition, 1), initial: firstState() };
}

async function isThere(folder: string): Promise<boolean> {
  return readdir(folder).then(
    () => true,
    () => false,
  );
}

async function scaffold(base: string, name: string): Promise<string[]> {
  await mkdir(base, { recursive: true });
  const files = {
    [`${name}.v1.schema.json`]: json(schemaOf(name, 1, 'blockers')),
    [`${name}.v2.schema.json`]: json(schemaOf(name, 2, 'risks')),
    [`${name}.state.mjs`]: definitionText(name),
  };
  await assertFree(base, Object.keys(files));
  for (const [file, text] of Object.entries(files)) await writeNewFile(path.join(base, file), [text]);
  return Object.keys(files).map((file) => path.join(base, file));
}

/** Checks all files before writing the first one, because a partial scaffold would block the next attempt. */
async function assertFree(base: string, files: readonly string[]): Promise<void> {
  const taken = (await readdir(base)).find((file) => files.includes(file));
  if (taken === undefined) return;
  const file = path.join(base, taken);
  throw new RekindleError('INVALID_ARGUMENT', `${file} already exists. Nothing was written.`, {
    details: { argument: 'name', file },
  });
}

function firstState(): JsonObject {
  return { schema_version: 1, goal: '', blockers: [], last_human_touch: null };
}

function schemaOf(name: string, version: number, list: string): JsonObject {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: name,
    type: 'object',
    additionalProperties: false,
    required: ['schema_version', 'goal', list, 'last_human_touch'],
    properties: {
      schema_version: { const: version },
      goal: { type: 'string' },
      [list]: { type: 'array', items: { type: 'string' } },
      last_human_touch: { type: ['string', 'null'] },
    },
  };
}

function json(value: JsonObject): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function definitionText(name: string): string {
  return `/** What ${name}.json is. The newest schema, and how each older version becomes the next. */
import { readFileSync } from 'node:fs';

const schema = (file) => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));

export default {
  name: '${name}',
  schema: schema('./${name}.v2.schema.json'),
  migrations: [
    {
      from: 1,
      schema: schema('./${name}.v1.schema.json'),
      // Pure: it gets a copy, and sets everything but schema_version.
      migrate: ({ blockers, ...rest }) => ({ ...rest, risks: blockers }),
    },
  ],
  initial: { schema_version: 2, goal: '', risks: [], last_human_touch: null },
};
`;
}
