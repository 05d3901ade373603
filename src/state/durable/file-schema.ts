/** The schema of a document's file, for editors and checks outside of this library. */
import type { JsonObject } from '../../core/json.js';
import { SHOWS } from './shown-version.js';
import type { StateSchema } from './state-definition.js';

const LINE: JsonObject = {
  type: 'object',
  required: ['version', 'digest'],
  properties: { version: { type: 'integer', minimum: 1 }, digest: { type: 'string' } },
  description: 'The version that this file shows. Set by Rekindle; do not change it.',
};

/** The schema of the document, which also allows the line that Rekindle adds to the file. */
export function fileSchemaOf(schema: StateSchema): JsonObject {
  const { properties, ...rest } = structuredClone(schema) as JsonObject;
  return { ...rest, properties: { ...(properties as JsonObject), [SHOWS]: LINE } };
}

/** The file of a built-in schema in the package: `task_board` becomes `schemas/task-board.json`. */
export function schemaFileOf(name: string): string {
  return `schemas/${name.replaceAll('_', '-')}.json`;
}
