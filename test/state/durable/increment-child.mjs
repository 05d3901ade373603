/**
 * A process that counts up: `increment-child.mjs <build> <root> <times>`; `forever` tells each count that is acknowledged. Runs what is
 * compiled: it starts five times as fast.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [build, root, times] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(path.join(build, file)).href);
const { FileStorage } = await load('storage/index.js');
const { StateManager } = await load('state/index.js');

const schema = {
  type: 'object',
  required: ['schema_version', 'count'],
  properties: { schema_version: { const: 1 }, count: { type: 'integer' } },
};
const initial = { schema_version: 1, count: 0 };
const state = await StateManager.open({ name: 'counter', schema, initial, backend: new FileStorage(root) });
while (times === 'forever') {
  const { value } = await state.update((draft) => void (draft.count += 1));
  process.stdout.write(`${value.count}\n`);
}
await Promise.all(
  Array.from({ length: Number(times) }, () => state.update((draft) => void (draft.count += 1))),
);
await state.close();
