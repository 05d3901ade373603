/** Writes the schemas of the built-in documents, which the package ships, from their definitions: `npm run schemas`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { agentState } from '../src/state/durable/documents/agent-state.js';
import { taskBoard } from '../src/state/durable/documents/task-board.js';
import { fileSchemaOf, schemaFileOf } from '../src/state/durable/file-schema.js';

const root = fileURLToPath(new URL('..', import.meta.url));
mkdirSync(path.join(root, 'schemas'), { recursive: true });
for (const { name, schema } of [agentState, taskBoard]) {
  const text = `${JSON.stringify(fileSchemaOf(schema), null, 2)}\n`;
  writeFileSync(path.join(root, schemaFileOf(name)), text);
}
