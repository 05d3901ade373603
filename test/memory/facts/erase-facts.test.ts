/** The facts of an agent go out of the journals that it shares; those of others stay as they were. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { subjectFactsOf } from '../../../src/memory/facts/erase-facts.js';
import { SubjectFacts } from '../../../src/memory/facts/subject-facts.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';

const row = (id: string, fact: string, agent: string | null, key?: string) => ({
  ...{ id, ts: 1, fact, salience: 0, source: 'user', ...(key ? { key } : {}) },
  ...(agent ? { trace: { agent_id: agent, number: 1, turn_id: 't' } } : {}),
});
const forget = (id: string) => ({ id: `mark-${id}`, ts: 2, mark: 'forget', ids: [id] });

async function erased(rows: readonly ReturnType<typeof row | typeof forget>[]) {
  const storage = new MemoryStorage();
  const subject = new SubjectFacts(storage, 'house');
  for (const one of rows) await subject.change(() => ({ rows: [one], done: () => {} }));
  await subject.close();
  const part = subjectFactsOf(storage, 'desk');
  const found = await part.look();
  await part.erase();
  expect(await part.look()).toEqual([]);
  const after = new SubjectFacts(storage, 'house');
  onTestFinished(() => after.close());
  return { found, standing: (await after.table()).standing().map(({ id }) => id) };
}

describe('facts of an agent that is erased', () => {
  it('go where their trace names it; others stay, also those that name no agent', async () => {
    const { found, standing } = await erased([
      row('a', 'One.', 'desk'),
      row('b', 'Two.', 'till'),
      row('c', 'Three.', null),
    ]);
    expect(found).toMatchObject([{ kind: 'journal', place: 'subjects/house/facts', items: 1 }]);
    expect(standing).toEqual(['b', 'c']);
  });

  it('leave their place to what they stood for', async () => {
    const { standing } = await erased([
      row('b', 'Ghent.', 'till', 'home'),
      row('a', 'Oslo.', 'desk', 'home'),
    ]);
    expect(standing).toEqual(['b']);
  });

  it('do not bring back what was forgotten under their name', async () => {
    const { standing } = await erased([
      row('b', 'Ghent.', 'till', 'home'),
      row('a', 'Oslo.', 'desk', 'home'),
      forget('a'),
    ]);
    expect(standing).toEqual([]);
  });
});
