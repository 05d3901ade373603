/**
 * The documents that the command line knows: the two built-in ones, and those that the project declares in
 * `rekindle/<name>.state.mjs`. These are programs of the project. Nothing is ever loaded from the data
 * folder.
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

const SUFFIX = '.state.mjs';

/** @param folder default `./rekindle`, which may be missing. @throws INVALID_ARGUMENT */
export async function loadDefinitions(folder: string | undefined): Promise<StateDefinition[]> {
  const base = path.resolve(folder ?? DEFINITIONS_FOLDER);
  const own: StateDefinition[] = [];
  for (const name of await programsIn(folder)) own.push(await load(base, name));
  const taken = new Set(own.map((definition) => definition.name));
  return [...own, ...BUILT_IN.filter((definition) => !taken.has(definition.name))];
}

export interface KnownDefinitions {
  readonly definitions: readonly StateDefinition[];
  /** Programs in `./rekindle` that were not run, by the name of their definition. */
  readonly notRun: readonly string[];
}

/**
 * For read-only commands. They may run in an untrusted folder, so they execute its programs only if the
 * folder was given. The definitions in these programs are then unknown, even under the name of a built-in
 * one. @throws INVALID_ARGUMENT
 */
export async function definitionsToLook(folder: string | undefined): Promise<KnownDefinitions> {
  if (folder !== undefined) return { definitions: await loadDefinitions(folder), notRun: [] };
  const notRun = (await programsIn(folder)).map((file) => file.slice(0, -SUFFIX.length));
  return { definitions: BUILT_IN.filter(({ name }) => !notRun.includes(name)), notRun };
}

/** One line for people; none if nothing was left out. */
export function notRunLines(notRun: readonly string[]): string[] {
  if (notRun.length === 0) return [];
  const files = notRun.map((name) => `${DEFINITIONS_FOLDER}/${name}${SUFFIX}`).join(', ');
  return [
    `Not executed, because this command only reads: ${files}. To execute them: --definitions ${DEFINITIONS_FOLDER}`,
  ];
}

async function programsIn(folder: string | undefined): Promise<string[]> {
  const base = path.resolve(folder ?? DEFINITIONS_FOLDER);
  const names = await readdir(base).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT' && folder === undefined) return [];
    throw new RekindleError('INVALID_ARGUMENT', `${base} cannot be listed.`, {
      details: { folder: base },
      cause,
    });
  });
  return names.filter((file) => file.endsWith(SUFFIX)).sort();
}

async function load(base: string, name: string): Promise<StateDefinition> {
  const file = path.join(base, name);
  try {
    const loaded = (await import(pathToFileURL(file).href)) as { readonly default?: StateDefinition };
    if (typeof loaded.default?.name !== 'string')
      throw new TypeError('its default export is not a definition');
    return defineState(loaded.default);
  } catch (cause) {
    throw new RekindleError('INVALID_ARGUMENT', `${file} cannot be used: ${messageOf(cause)}`, {
      details: { file },
      cause,
    });
  }
}

/**
 * The definition of a document under its own name. A definition's name may be written with hyphens, as the files of the
 * schemas are: `task-board` is `task_board`.
 */
export function knownDefinition(
  definitions: readonly StateDefinition[],
  name: string,
): StateDefinition | undefined {
  const [kind = '', ...rest] = name.split('.');
  const names = [name, [kind.replaceAll('-', '_'), ...rest].join('.')];
  for (const one of names) {
    const definition = definitionOf(definitions, one);
    if (definition) return { ...definition, name: one };
  }
  return undefined;
}

/** @throws INVALID_ARGUMENT for an undeclared document */
export function requiredDefinition(
  definitions: readonly StateDefinition[],
  name: string,
  notRun: readonly string[] = [],
): StateDefinition {
  const found = knownDefinition(definitions, name);
  if (found) return found;
  const known = definitions.map((one) => one.name).join(', ');
  throw new RekindleError(
    'INVALID_ARGUMENT',
    [
      `No definition is known for ${JSON.stringify(name)}. Known definitions: ${known}.`,
      ...notRunLines(notRun),
    ].join(' '),
    {
      details: { name, known: definitions.map((one) => one.name), notRun: [...notRun] },
    },
  );
}
