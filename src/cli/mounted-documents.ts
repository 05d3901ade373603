/** Durable documents that a server is started with: the option `--state` of `mcp` and `serve`. */
import type { StateDefinition } from '../state/durable/state-definition.js';
import { definitionsToLook, requiredDefinition } from './state-definitions.js';

export const MCP_STATE = [
  '--state <name...>',
  'durable documents that become tools of MCP clients (default: none)',
] as const;
export const MCP_DEFINITIONS = [
  '--definitions <folder>',
  'folder of the <name>.state.mjs files, which are executed (default: none)',
] as const;

/**
 * The names of the documents, as they are stored, and the known definitions. A client starts these commands wherever it
 * likes, so programs of a folder are executed only if it was named. @throws INVALID_ARGUMENT
 */
export async function mountedNames(options: {
  readonly state?: readonly string[];
  readonly definitions?: string;
}): Promise<{ readonly names: readonly string[]; readonly definitions: readonly StateDefinition[] }> {
  const { definitions, notRun } = await definitionsToLook(options.definitions);
  const names = (options.state ?? []).map((name) => requiredDefinition(definitions, name, notRun).name);
  return { names: [...new Set(names)], definitions };
}
