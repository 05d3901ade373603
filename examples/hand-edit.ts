/**
 * A person edits the state file of an agent: once well, once not.
 *
 *     npx tsx examples/hand-edit.ts
 *
 * The file is `memory/state/agent_state.json`; here the program itself plays the person.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
// In your program: from 'rekindle', 'rekindle/state'
import { FileStorage, isRekindleError } from '../src/index.js';
import { agentState, StateManager } from '../src/state/index.js';

const FILE = 'memory/state/agent_state.json';
const storage = new FileStorage('memory');
const state = await StateManager.open({ ...agentState, backend: storage, humanHoldMs: 1_000 }); // 5,000 by default

state.events.on('changed', ({ version, by, value }) =>
  console.log(`version ${version} by ${by}: ${JSON.stringify(value.blockers)}`),
);
state.events.on('edit_refused', ({ problems }) => {
  for (const { line, column, path, message } of problems)
    console.log(`refused at line ${line}, column ${column}: ${path} ${message}`);
});
const stopWatching = await state.watch();

async function agentWrites(blocker: string): Promise<void> {
  try {
    await state.update((draft) => void draft.blockers.push(blocker), {
      by: 'builder',
      why: 'found on the way',
    });
  } catch (thrown) {
    if (!isRekindleError(thrown, 'HUMAN_EDIT')) throw thrown;
    console.log(`the agent has to wait: ${thrown.message}`);
  }
}

async function personEdits(change: (text: string) => string): Promise<void> {
  await writeFile(FILE, change(await readFile(FILE, 'utf8')));
  await sleep(250); // noticed meanwhile
}

console.log('The agent notes a blocker.');
await agentWrites('no key for the service');

console.log('\nA person edits the file, and it is valid.');
await personEdits((text) => text.replace('no key for the service', 'the key is in the vault'));
await agentWrites('a second blocker');
await sleep(1_000);
await agentWrites('a second blocker');

console.log('\nA person edits the file, and it is not valid.');
await personEdits((text) => text.replace('"touched_files": []', '"touched_files": "none"'));
await agentWrites('a third blocker');
console.log(`the file is as the person wrote it: ${(await readFile(FILE, 'utf8')).includes('"none"')}`);
console.log(`agents still read version ${(await state.load()).version}`);

await stopWatching();
await state.close();
await storage.close();
