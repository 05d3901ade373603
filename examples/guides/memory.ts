/**
 * Memory: facts that stay, facts that the agents of one person share, and old words that come back for a request.
 *
 *     npx tsx examples/guides/memory.ts
 *
 * A script stands for the model. The budget is small, so that the first turns leave the context soon.
 */
import assert from 'node:assert/strict';
import { type Agent, FileStorage, openAgent, ScriptedModel, type ToolDefinition } from '../../src/index.js';
import { factTools, listFacts, searchAgent } from '../../src/memory/index.js';
import { inNewFolder } from '../support/lives.js';

inNewFolder();
const storage = new FileStorage('memory');

/** The model calls `remember` in the first turn, and says little else. */
const answers = [
  { calls: [{ name: 'remember', arguments: { text: 'Deploys on Monday.', key: 'deploy day' } }] },
  ...Array.from({ length: 100 }, () => ({ text: 'I see.' })),
];

function open(agentId: string, tools: readonly ToolDefinition[], systemPrompt: string): Promise<Agent> {
  return openAgent(agentId, {
    model: new ScriptedModel(answers),
    systemPrompt,
    storage,
    tools,
    memory: {
      scope: 'user-17', // whose facts these are: your program decides, never the model
      compaction: { inputBudgetTokens: 2_500 },
    },
  });
}

// Facts: by your program, and by the model.
const ann: Agent = await open('ann', factTools({ memory: () => ann.memory }), 'You are an assistant.');
await ann.memory.facts.remember('The user is allergic to nuts.', { key: 'allergy' });
await ann.send('We deploy on Mondays, keep that in mind.');
for (const { text, source } of await ann.memory.facts.list()) console.log(`a fact of the ${source}: ${text}`);

// The past: it leaves the context, and comes back when a request needs it.
await ann.send('My dentist is Doctor Amsel in Linz.');
for (let box = 1; box <= 50; box += 1)
  await ann.send(
    `Box ${box} holds ${box * 7} screws, ${box * 3} nails and ${box * 2} hinges of the old shed.`,
  );
const isAbove = () => ann.messages.some(({ content }) => content?.includes('Doctor Amsel'));
console.log('in the context before the question:', isAbove());
await ann.send('When can I see the dentist?');
console.log('in the context after the question:', isAbove());
const recall = ann.messages.findLast(({ kind }) => kind === 'recall')!;
assert.match(recall.content!, /user> My dentist is Doctor Amsel in Linz\./);

// Search, for your program and your pages. It needs no lease, so the agent may run meanwhile.
const { hits } = await searchAgent(storage, 'ann', {
  text: 'dentist',
  limit: 1,
  speakers: ['user'],
  nowMs: Date.now(),
});
console.log('found:', hits[0]?.passage.turnId, hits[0]?.passage.text);
await ann.stop();

// Another agent of the same person knows the facts, and not the conversation.
const facts = await listFacts(storage, { scope: 'user-17' }, false);
const bob = await open('bob', [], `Known of the user:\n${facts.map(({ text }) => `- ${text}`).join('\n')}`);
console.log(bob.messages[0]?.content);
await bob.stop();
assert.deepEqual(
  facts.map(({ text }) => text),
  ['The user is allergic to nuts.', 'Deploys on Monday.'],
);
await storage.close();
