/** A process that appends to a session and a subagent, and prints the uuids of each batch when it is acknowledged. Its arguments: the folder, a name, and the number of batches. */
import { RekindleSessionStore } from '../../../src/adapters/claude-agent/index.js';
import { openStorage } from '../../../src/storage/open-storage.js';
import { AGENT_1, entry, MAIN } from './store-kit.js';

const [, , folder = '', name = '', count = '0'] = process.argv;
const storage = openStorage(`file:${folder}`);
const store = new RekindleSessionStore({ storage });
for (let batch = 0; batch < Number(count); batch += 1) {
  const uuids = [0, 1, 2].map((n) => `${name}-${batch}-${n}`);
  const entries = uuids.map((uuid) => entry({ uuid, text: 'x'.repeat(500) }));
  for (const key of [MAIN, AGENT_1]) await store.append(key, entries);
  console.log(uuids.join(' '));
}
await store.close();
await storage.close();
