/** What is imported from the newer formats restores, is legal, and is accepted by every provider. */
import { describe, expect, it } from 'vitest';
import { importTranscript } from '../../../src/memory/importing/import-transcript.js';
import { agentExists, openMemory } from '../../../src/memory/open-memory.js';
import { WorkingContextSnapshotBootstrapper } from '../../../src/memory/restore/working-context-snapshot-bootstrapper.js';
import { sourceOf } from '../../../src/messages/importers/source.js';
import { checkHistory } from '../../../src/messages/legality/history.js';
import { messageToJson } from '../../../src/messages/message-serializer.js';
import { checkRequest, project } from '../../../src/messages/projections/project.js';
import { TARGETS } from '../../../src/messages/projections/targets.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { SMALL_SAMPLES } from '../../messages/importers/small-samples.js';

async function restored(storage: MemoryStorage) {
  const opened = await openMemory(storage, 'ann', { compaction: null });
  const { repairs } = await new WorkingContextSnapshotBootstrapper().bootstrap(opened.memory, null);
  const messages = opened.memory.getWorkingContextMessages();
  await opened.close();
  return { repairs, messages };
}

describe.each(Object.entries(SMALL_SAMPLES))('a transcript of the format %s', (format, text) => {
  it('is imported, and its restored context is legal for every provider and stays the same', async () => {
    const storage = new MemoryStorage();
    expect(await importTranscript(storage, 'ann', sourceOf(text, 'x', 5))).toMatchObject({ format });
    const first = await restored(storage);
    expect(
      first.messages.some(({ content, parts }) => JSON.stringify([content, parts]).includes('a.txt?')),
    ).toBe(true);
    expect(checkHistory(first.messages)).toEqual([]);
    for (const target of TARGETS)
      expect(checkRequest(target, project(target, first.messages).request)).toEqual([]);
    const second = await restored(storage);
    expect(second.repairs).toEqual([]);
    expect(second.messages.map(messageToJson)).toEqual(first.messages.map(messageToJson));
  });

  it('leaves nothing behind where it is refused', async () => {
    const storage = new MemoryStorage();
    const cut = format === 'aider' || format === 'specstory' ? text.slice(0, 44) : text.slice(0, -3);
    await expect(importTranscript(storage, 'ann', sourceOf(cut))).rejects.toMatchObject({
      code: expect.stringMatching(/^TRANSCRIPT_(?:INVALID|UNKNOWN)$/), // a list that is cut off may be unknown
    });
    expect(await agentExists(storage, 'ann')).toBe(false);
  });
});
