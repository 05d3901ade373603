/** A provider's prompt cache is by the bytes of the prefix: they are the same before a crash and after the restore. */
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/core/clock.js';
import type { JsonObject } from '../../../src/core/json.js';
import { type OpenMemory, openMemory } from '../../../src/memory/open-memory.js';
import type { RestoreReport } from '../../../src/memory/restore/restore-report.js';
import {
  WorkingContextSnapshotBootstrapOptions,
  WorkingContextSnapshotBootstrapper,
} from '../../../src/memory/restore/working-context-snapshot-bootstrapper.js';
import { project } from '../../../src/messages/projections/project.js';
import { TARGETS, type TargetName } from '../../../src/messages/projections/targets.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';

const SIGNED = { text: 'Two lookups.', signature: 'c2ln', origin: { provider: 'anthropic', model: 'a' } };

/** Requests as texts, one a message; the last open batch has its results after the restore only. */
function listFor(target: TargetName, opened: OpenMemory): string[] {
  const messages = opened.memory.getWorkingContextMessages();
  const { request } = project(target, messages, { provider: 'anthropic', model: 'a', ending: 'as-is' });
  const { messages: list, input, contents } = request as unknown as JsonObject;
  return ((list ?? input ?? contents) as JsonObject[]).map((message) => JSON.stringify(message));
}

async function talk(opened: OpenMemory): Promise<void> {
  const { memory } = opened;
  await memory.begin('You are a guide.');
  for (const [number, city] of ['Lisbon', 'Porto'].entries()) {
    const turnId = memory.startTurn();
    await memory.ingestUserMessage(`Weather in ${city}?`, turnId);
    const toolCalls = ['a', 'b'].map((id) => ({
      id,
      name: 'weather',
      arguments: { city },
      argumentsText: `{"city": "${city}"}`,
    }));
    await memory.ingestAssistantResponse(
      { content: null, reasoning: [SIGNED], toolCalls, messageId: `m${number}` },
      turnId,
    );
    await memory.ingestToolResults(
      [
        { callId: 'b', toolName: 'weather', result: '' },
        { callId: 'a', toolName: 'weather', result: { degrees: 21 } },
      ],
      turnId,
    );
    await memory.ingestAssistantResponse({ content: 'Warm.' }, turnId);
  }
  await memory.ingestUserMessage('And \ud83d?', memory.startTurn());
}

async function open(
  storage: MemoryStorage,
  ignoreCache = false,
): Promise<{ opened: OpenMemory; report: RestoreReport }> {
  const opened = await openMemory(storage, 'agent', { compaction: null });
  const options = new WorkingContextSnapshotBootstrapOptions({ ignoreCache });
  return {
    opened,
    report: await new WorkingContextSnapshotBootstrapper().bootstrap(opened.memory, null, options),
  };
}

describe.each(TARGETS)('the request to %s', (target) => {
  it.each([false, true])('has the bytes that it had before the crash (rebuilt: %s)', async (ignoreCache) => {
    const clock = new ManualClock();
    const storage = new MemoryStorage({ clock });
    const { opened } = await open(storage);
    await talk(opened);
    const before = listFor(target, opened);
    clock.advance(60_000); // never closed: the lease runs out
    const restored = await open(storage, ignoreCache);
    expect(listFor(target, restored.opened)).toStrictEqual(before);
    expect(restored.report.prefix).toMatchObject({ firstDifference: null, tokensLost: 0 });
    expect(restored.report.repairs).toStrictEqual([]);
  });

  it('begins with the bytes that it had, when the conversation has gone on', async () => {
    const clock = new ManualClock();
    const storage = new MemoryStorage({ clock });
    const { opened } = await open(storage);
    await talk(opened);
    const before = listFor(target, opened);
    clock.advance(60_000);
    const { opened: restored } = await open(storage);
    await restored.memory.ingestAssistantResponse(
      { content: 'What do you mean?' },
      restored.memory.startTurn(),
    );
    expect(listFor(target, restored).slice(0, before.length)).toStrictEqual(before);
  });
});

describe('the report', () => {
  it('names the first message that differs when the prefix is another one', async () => {
    const clock = new ManualClock();
    const storage = new MemoryStorage({ clock });
    const { opened } = await open(storage);
    await talk(opened);
    await opened.memory.persistWorkingContextSnapshot();
    clock.advance(60_000);
    const again = await openMemory(storage, 'agent', { compaction: null });
    const report = await new WorkingContextSnapshotBootstrapper().bootstrap(
      again.memory,
      'You are another guide.',
    );
    expect(report.promptChanged).toBe(true);
    expect(report.prefix.firstDifference).toBe(0);
    const bytes = Buffer.byteLength(listFor('openai-chat', again).join(''));
    expect(report.prefix.tokensLost).toBeGreaterThan(bytes / 16);
    expect(report.prefix.tokensLost).toBeLessThan(bytes);
  });
});
