/**
 * The documents that the command line knows: the two that are built in, and those that the project declares in
 * `rekindle/<name>.state.mjs`. These are programs of the project; nothing is ever loaded from the folder that holds the data.
 */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf, RekindleError } from '../core/errors.js';
import { agentState } from '../state/durable/documents/agent-state.js';
import { taskBoard } from '../state/durable/documents/task-board.js';
import { definitionOf } from '../state/durable/migrate-documents.js';
import { defineState, type StateDefinition } from '../state/durable/state-definition.js';

export const DEFINITIONS_FOLDER = 'rekindle';
export const BUILT_IN: readonly StateDefinition[] = [agentState, taskBoard];

/** @param folder default `./rekindle`, which need not be there. @throws INVALID_ARGUMENT */
export async function loadDefinitions(folder: string | undefined): Promise<StateDefinition[]> {
  const base = path.resolve(folder ?? DEFINITIONS_FOLDER);
  const names = await readdir(base).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT' && folder === undefined) return [];
    throw new RekindleError('INVALID_ARGUMENT', `${base} cannot be listed.`, {
      details: { folder: base },
      cause,
    });
  });
  const own: StateDefinition[] = [];
  for (const name of names.filter((file) => file.endsWith('.state.mjs')).sort())
    own.push(await load(base, name));
  const taken = new Set(own.map((definition) => definition.name));
  return [...own, ...BUILT_IN.filter((definition) => !taken.has(definition.name))];
}

async function load(base: string, name: string): Promise<StateDefinition> {
  const file = path.join(base, name);
  try {
    const loaded = (await import(pathToFileURL(file).href)) as { readonly default?: StateDefinition };
    if (typeof loaded.default?.name !== 'string')
      throw new TypeError('it exports no definition as its default');
    return defineState(loaded.default);
  } catch (cause) {
    throw new RekindleError('INVALID_ARGUMENT', `${file} cannot be used: ${messageOf(cause)}`, {
      details: { file },
      cause,
    });
  }
}

/** @throws INVALID_ARGUMENT for a document that nobody declared */
export function requiredDefinition(definitions: readonly StateDefinition[], name: string): StateDefinition {
  const definition = definitionOf(definitions, name);
  if (definition) return { ...definition, name };
  const known = definitions.map((one) => one.name).join(', ');
  throw new RekindleError(
    'INVALID_ARGUMENT',
    `No definition is known for ${JSON.stringify(name)}. Known are: ${known}.`,
    {
      details: { name, known: definitions.map((one) => one.name) },
    },
  );
}
