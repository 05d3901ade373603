/**
 * An agent that is saved after every turn, and goes back: the third of ten checkpoints becomes a new agent, which goes on from there,
 * and the first agent stays as it was, byte for byte.
 *
 *     npx tsx examples/checkpoints.ts
 *
 * The offline model needs no key. Everything is in `./memory`, which must not have these agents yet.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { checkpointAgent } from '../src/agent/index.js'; // in your program: from 'rekindle/agent'
import { CheckpointService } from '../src/checkpoints/index.js'; // from 'rekindle/checkpoints'
import { createAgent, FileStorage, OfflineModel, restoreAgent } from '../src/index.js'; // from 'rekindle'

const storage = new FileStorage('memory');
const checkpoints = new CheckpointService({ backend: storage });
const config = { model: new OfflineModel(), systemPrompt: 'You plan a trip.', storage };

const today = createAgent({ ...config, agentId: 'trip' });
await today.start();
const saved: string[] = [];
for (let day = 1; day <= 10; day += 1) {
  await today.send(`Day ${day}: we go to place ${day}.`);
  const { checkpointId } = await checkpointAgent(checkpoints, storage, 'trip', {
    metadata: { name: `after day ${day}`, tags: ['trip'] },
  });
  saved.push(checkpointId);
}
await today.stop();
const before = await digestOf('memory/agents/trip');

const branch = restoreAgent('trip-by-train', config, null, { fromCheckpoint: saved[2]! });
await branch.start();
console.log(`${saved[2]} gave ${branch.agentId} ${branch.messages.length} messages.`);
await branch.send('From here on we take the train.');
const last = branch.messages.findLast(({ role }) => role === 'user');
console.log(`It went on: ${branch.messages.length} messages, the last question was "${last?.content}".`);
await branch.stop();

const isSame = (await digestOf('memory/agents/trip')) === before;
console.log(isSame ? 'The first agent is unchanged.' : 'The first agent has changed!');
const { totalSizeBytes } = await checkpoints.session('trip');
console.log(`Ten checkpoints take ${totalSizeBytes} bytes.`);
await checkpoints.close();
await storage.close();

/** Of every file in a folder, but the lease, which says who had it last. */
async function digestOf(folder: string): Promise<string> {
  const digest = createHash('sha256');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !/lease/.test(entry.name));
  for (const entry of files.sort((a, b) => (a.name < b.name ? -1 : 1)))
    digest.update(entry.name).update(await readFile(path.join(entry.parentPath, entry.name)));
  return digest.digest('hex');
}
