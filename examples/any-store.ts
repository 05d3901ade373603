/**
 * One program, any store: its address is all that changes.
 *
 *     npx tsx examples/any-store.ts file:./memory
 *     npx tsx examples/any-store.ts sqlite:./agents.db
 *     npx tsx examples/any-store.ts postgres://user:password@127.0.0.1:5432/agents
 *
 * Run it twice: the second run remembers. SQLite needs `npm install @photostructure/sqlite` on Node.js 20, PostgreSQL `npm install pg`.
 */
import { OfflineModel, openAgent } from '../src/index.js'; // in your program: from 'rekindle'
import { SharedSessions } from '../src/state/index.js'; // from 'rekindle/state'
import { openStorage } from '../src/storage/index.js'; // from 'rekindle/storage'
import { Workspace } from '../src/workspace/index.js'; // from 'rekindle/workspace'

const storage = openStorage(process.argv[2] ?? 'file:./memory');

const agent = await openAgent('desk', {
  model: new OfflineModel(),
  systemPrompt: 'You are an order desk.',
  storage,
});
await agent.send('Order 4711 ships on Friday.'); // durable when it resolves, whatever the store
console.log(agent.restoreReport?.source ?? 'a new agent', agent.messages.length, 'messages');
await agent.stop();

const workspace = new Workspace(storage);
const entry = await workspace.write('shipping_notes', ['4711: Friday'], { agent: 'desk' });
console.log('the notes are in version', entry.version);

const shared = new SharedSessions(storage);
const root = (await shared.tree.get('orders')) ?? (await shared.tree.create({ id: 'orders' }));
const state = await shared.stateOf(root.id);
const { value } = await state.increment('runs', 1, { by: root.id });
console.log('this is run', value);

await shared.close();
await workspace.close();
await storage.close();
