import { describe, expect, it } from 'vitest';
import {
  agentExists,
  assertAgentExists,
  assertAgentIsNew,
  openMemory,
} from '../../src/memory/open-memory.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { AGENT, filePlace, folderState, openAgent, PLACES, talk, tempFolder } from './memory-kit.js';
import { LegacyRows, legacySnapshot } from './restore/legacy.js';

describe.each(PLACES)('an agent over $name', ({ make }) => {
  it('exists once anything of it is stored, and not before', async () => {
    const place = await make();
    const storage = place.storage();
    expect(await agentExists(storage, AGENT)).toBe(false);
    await expect(assertAgentExists(storage, AGENT)).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
      details: { agentId: AGENT },
    });
    const { memory, close } = await openAgent(place);
    expect(await agentExists(storage, AGENT)).toBe(false);
    await memory.begin('Be kind.');
    await close();
    expect(await agentExists(storage, AGENT)).toBe(true);
    await expect(assertAgentIsNew(storage, AGENT)).rejects.toMatchObject({ code: 'AGENT_EXISTS' });
    await assertAgentIsNew(storage, 'another');
  });

  it('is let go by closing, also when it was opened twice in a row', async () => {
    const storage = (await make()).storage();
    for (const text of ['1', '2']) {
      const { memory, lease, close } = await openMemory(storage, AGENT);
      expect(lease?.held).toBe(true);
      await memory.ingestUserMessage(text, memory.startTurn());
      await close();
      expect(lease?.held).toBe(false);
    }
  });

  it('is refused with INVALID_NAME for an id that is no name, and nothing is written', async () => {
    const storage = (await make()).storage();
    for (const id of ['', '..', 'a/b', 'a\u0000b'])
      await expect(openMemory(storage, id)).rejects.toMatchObject({ code: 'INVALID_NAME' });
    expect(await storage.listNames(['agents'])).toStrictEqual([]);
  });
});

describe('an agent in files', () => {
  it.each([
    ['a snapshot of the original project', 'working_context_snapshot.json', legacySnapshot([])],
    ['traces', 'raw_traces.jsonl', String(new LegacyRows().user('Hi'))],
    ['a summary', 'episodic.jsonl', '{"summary":"s"}\n'],
    ['a fact', 'semantic.jsonl', '{"fact":"f"}\n'],
    ['traces that cannot be read', 'raw_traces.jsonl', '{"torn'],
  ])('exists when all there is of it is %s', async (_, name, content) => {
    const place = await filePlace();
    await place.put(name, content);
    expect(await agentExists(place.storage(), AGENT)).toBe(true);
  });

  it('is looked for without a change in the folder', async () => {
    const place = await filePlace();
    const before = await folderState(place.root, { leases: true });
    expect(await agentExists(place.storage(), AGENT)).toBe(false);
    expect(await folderState(place.root, { leases: true })).toStrictEqual(before);
  });

  it('cannot be opened by two at once, and can be read by many', async () => {
    const root = await tempFolder();
    const [first, second] = [new FileStorage(root), new FileStorage(root)];
    const { memory, close } = await openMemory(first, AGENT);
    await expect(openMemory(second, AGENT)).rejects.toMatchObject({
      code: 'LEASE_HELD',
      details: { owner: { pid: process.pid } },
    });
    const reader = await openMemory(second, AGENT, { readOnly: true });
    expect(reader.lease).toBeNull();
    await talk(memory, '1', '1');
    await close();
    const taken = await openMemory(second, AGENT);
    await taken.close();
    await reader.close();
    await first.close();
    await second.close();
  });
});
