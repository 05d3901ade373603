/**
 * P2, P3, P8 for input that is not as it should be: the live list is legal but for calls that still run; the restored one is the
 * same, with those closed, from the cache, from an earlier cache and its tail, and without a cache; and a second restore
 * finds nothing to repair.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/core/canonical-json.js';
import type { MemoryManager } from '../../src/memory/memory-manager.js';
import type { RestoreReport } from '../../src/memory/restore/restore-report.js';
import { SNAPSHOT_FILE } from '../../src/memory/store/working-context-snapshot-store.js';
import { checkHistory, repairHistory } from '../../src/messages/legality/history.js';
import { isBlankMessage, type Message } from '../../src/messages/message.js';
import { messageToJson } from '../../src/messages/message-serializer.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import { AGENT, contextText, memoryPlace, openAgent, type Place } from '../memory/memory-kit.js';
import { type OddStep, oddConversation, take } from './odd-input.js';
import { runParameters } from './seed.js';

const CACHE = ['agents', AGENT, SNAPSHOT_FILE];

describe('odd input', () => {
  it('gives a legal list, which every way back gives again', async () => {
    const sources = new Set<string>();
    await fc.assert(
      fc.asyncProperty(oddConversation, fc.nat(), fc.boolean(), async (steps, pick, prompted) => {
        const place = memoryPlace();
        const { live, caches } = await play(place, steps, prompted);
        if (saysNothing(live)) return; // a restore refuses it by design
        expectLegalButOpen(live);
        for (const cache of [caches[pick % caches.length]!, null, caches.at(-1)!]) {
          sources.add((await restoreFrom(place, live, cache)).source);
        }
        await expectDone(place, live);
      }),
      runParameters('odd-input-restores-equal', 300),
    );
    expect([...sources].sort()).toStrictEqual(['cache', 'cache+tail', 'rebuilt']);
  }, 600_000);
});

async function play(place: Place, steps: readonly OddStep[], prompted: boolean) {
  const { memory: live, storage } = await openAgent(place, { system: prompted ? 'Be kind \ud83d' : null });
  const caches: (Uint8Array | null)[] = [null];
  for (const step of steps) {
    await take(live, step);
    caches.push(await storage.documents.readBytes(CACHE));
  }
  return { live, caches };
}

function saysNothing(memory: MemoryManager): boolean {
  return memory
    .getWorkingContextMessages()
    .every((message) => message.role === 'system' || isBlankMessage(message));
}

function expectLegalButOpen(live: MemoryManager): void {
  const open = new Set(live.openCalls().map(({ call }) => call.id));
  const wrong = checkHistory(live.getWorkingContextMessages()).filter(
    ({ rule, callId }) => rule !== 'H4' || !open.has(callId ?? ''),
  );
  expect(wrong).toStrictEqual([]);
}

async function restoreFrom(
  place: Place,
  live: MemoryManager,
  cache: Uint8Array | null,
): Promise<RestoreReport> {
  await putCache(place.storage(), cache);
  const restored = await openAgent(place, { readOnly: true });
  expectClosed(live, restored.memory);
  const { repairs } = repairHistory(live.getWorkingContextMessages());
  expect(restored.report.repairs).toHaveLength(repairs.length);
  await restored.close();
  return restored.report;
}

/** What the first restore mends is written down. */
async function expectDone(place: Place, live: MemoryManager): Promise<void> {
  const first = await openAgent(place);
  const text = contextText(first.memory);
  expectClosed(live, first.memory);
  const second = await openAgent(place);
  expect(second.report.repairs).toStrictEqual([]);
  expect(contextText(second.memory)).toBe(text);
}

async function putCache({ documents }: StorageBackend, bytes: Uint8Array | null): Promise<void> {
  if (bytes) await documents.writeBytes(CACHE, bytes, { durability: 'cache' });
  else await documents.delete(CACHE);
}

/** The restored list is legal, and without the results of the calls that were open it is the live one. */
function expectClosed(live: MemoryManager, restored: MemoryManager): void {
  const messages = restored.getWorkingContextMessages();
  expect(checkHistory(messages)).toStrictEqual([]);
  expect(textsOf(messages)).toStrictEqual(textsOf(repairHistory(live.getWorkingContextMessages()).messages));
}

/** What the text for an open call says depends on the ledger. */
function withoutReason(message: Message): Message {
  const { toolPayload } = message;
  if (!message.synthetic || !toolPayload || !('toolCallId' in toolPayload)) return message;
  if (!toolPayload.toolError?.startsWith('Interrupted: ')) return message;
  return { ...message, toolPayload: { ...toolPayload, toolError: 'Interrupted' } };
}

function textsOf(messages: readonly Message[]): string[] {
  return messages.map((message) => canonicalJson(messageToJson(withoutReason(message))));
}
