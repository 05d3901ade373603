import { afterEach, describe, expect, it } from 'vitest';
import { adapterJournals } from '../../src/adapters/adapter-journals.js';
import { RekindleSessionStore } from '../../src/adapters/claude-agent/index.js';
import { RekindleSaver, RekindleStore } from '../../src/adapters/langgraph/index.js';
import { RekindleSession } from '../../src/adapters/openai-agents/index.js';
import { checkJournal, repairSharedJournal } from '../../src/storage/journal-check.js';
import { type OpenedTarget, TARGETS } from './targets.js';

let opened: OpenedTarget;
afterEach(() => opened.destroy());

describe.each(TARGETS)('the journals of adapters in $name', ({ open }) => {
  it('are told with the leases that their writers take', async () => {
    opened = await open();
    const { storage } = opened;
    expect(await adapterJournals(storage)).toEqual([]);
    const saver = new RekindleSaver({ storage });
    const config = { configurable: { thread_id: 'a/b', checkpoint_ns: '' } };
    const checkpoint = { v: 4, id: '1', ts: '', channel_values: {}, channel_versions: {}, versions_seen: {} };
    await saver.put(config, checkpoint, { source: 'input', step: -1, parents: {} }, {});
    const store = new RekindleStore({ storage });
    await store.put(['notes'], 'one', { n: 1 });
    const session = new RekindleSession({ sessionId: 's', storage });
    await session.addItems([{ role: 'user', content: 'Hello' }]);
    const transcripts = new RekindleSessionStore({ storage });
    for (const [sessionId, subpath] of [['s'], ['s', 'subagents/agent-1'], ['t', 'only']] as const)
      await transcripts.append({ projectKey: 'p', sessionId: sessionId, ...(subpath ? { subpath } : {}) }, [
        { type: 'user' },
      ]);
    const journals = await adapterJournals(storage);
    expect(journals).toHaveLength(6);
    for (const name of journals) {
      expect(await checkJournal(storage, name.journal)).toMatchObject({ records: 1, damage: [] });
    }
    await transcripts.close();
    await session.close();
    await store.stop();
    await saver.close();
    for (const name of journals) expect(await repairSharedJournal(storage, name)).toEqual([]);
  });
});
