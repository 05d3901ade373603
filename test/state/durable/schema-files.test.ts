/** The schema files that the package ships are those of the source, and fit the files on disk. */
import fs from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import { compileSchema } from '../../../src/core/schema-check.js';
import { agentState } from '../../../src/state/durable/documents/agent-state.js';
import { taskBoard } from '../../../src/state/durable/documents/task-board.js';
import { fileSchemaOf, schemaFileOf } from '../../../src/state/durable/file-schema.js';
import type { StateDefinition } from '../../../src/state/durable/state-definition.js';
import { StateManager } from '../../../src/state/durable/state-manager.js';
import { Place } from './state-kit.js';

const BUILT_IN: readonly StateDefinition[] = [agentState, taskBoard];

async function shipped(name: string): Promise<JsonObject> {
  const file = fileURLToPath(new URL(`../../../${schemaFileOf(name)}`, import.meta.url));
  return JSON.parse(await fs.readFile(file, 'utf8')) as JsonObject;
}

describe('the schema file of a built-in document', () => {
  it.each(BUILT_IN)('$name is the one of the source (npm run schemas)', async ({ name, schema }) => {
    expect(await shipped(name)).toEqual(fileSchemaOf(schema));
  });

  it.each(BUILT_IN)(
    '$name fits the file that a manager writes, and refuses a wrong one',
    async (definition) => {
      const place = await Place.make();
      const manager = new StateManager({ ...definition, backend: place.storage });
      onTestFinished(() => manager.close());
      await manager.load();
      const file = `${definition.name}.json`;
      const written = JSON.parse(await place.text(file)) as JsonObject;
      expect(written).toHaveProperty('_shows');
      const check = compileSchema(await shipped(definition.name));
      expect(check(written)).toBe(true);
      expect(check({ ...written, mood: 'good' })).toBe(false);
      expect(check({ ...written, _shows: 1 })).toBe(false);
    },
  );

  it('leaves the schema of the source as it is', () => {
    expect(Object.keys(taskBoard.schema.properties)).toEqual(['schema_version', 'tasks']);
  });
});
