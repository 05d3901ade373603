/** What was accepted must survive: it is restored, is legal, makes requests, and needs no repair the second time. */
import { ManualClock } from '../../src/core/clock.js';
import { openMemory } from '../../src/memory/open-memory.js';
import {
  WorkingContextSnapshotBootstrapOptions,
  WorkingContextSnapshotBootstrapper,
} from '../../src/memory/restore/working-context-snapshot-bootstrapper.js';
import { checkHistory } from '../../src/messages/legality/history.js';
import type { Message } from '../../src/messages/message.js';
import { messageFromJson, messageToJson } from '../../src/messages/message-serializer.js';
import { checkRequest, project } from '../../src/messages/projections/project.js';
import { TARGETS } from '../../src/messages/projections/targets.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { expectThat } from './fuzz-target.js';

export const AGENT = 'a';

/** A store in memory, where whoever held a lease is past its time. */
export function newStore(): { readonly storage: MemoryStorage; later(): void } {
  const clock = new ManualClock();
  return { storage: new MemoryStorage({ clock }), later: () => clock.advance(60_000) };
}

/** @throws what a restore may throw: then nothing was accepted */
export async function restoreTwice(storage: MemoryStorage): Promise<readonly Message[]> {
  const first = await restoreOnce(storage);
  const second = await restoreOnce(storage).catch((thrown: unknown) => {
    throw new Error('the second restore failed', { cause: thrown });
  });
  expectThat(second.repairs === 0, `the second restore made ${second.repairs} repairs`);
  expectThat(textOf(second.messages) === textOf(first.messages), 'the second restore gives another context');
  return second.messages;
}

async function restoreOnce(storage: MemoryStorage) {
  const { memory, close } = await openMemory(storage, AGENT, { compaction: null });
  try {
    const report = await new WorkingContextSnapshotBootstrapper().bootstrap(
      memory,
      null,
      new WorkingContextSnapshotBootstrapOptions(),
    );
    const messages = memory.getWorkingContextMessages();
    const open = memory.openCalls().length;
    const violations = checkHistory(messages);
    expectThat(violations.length <= open, `the restored list is not legal: ${JSON.stringify(violations[0])}`);
    await memory.persistWorkingContextSnapshot();
    return { messages, repairs: report.repairs.length };
  } finally {
    await close();
  }
}

function textOf(messages: readonly Message[]): string {
  return JSON.stringify(messages.map(messageToJson));
}

/** A legal list makes a request that its provider takes, and is what it was after it was stored. */
export function expectUsable(messages: readonly Message[], random: SeededRandom): void {
  const stored = JSON.stringify(messages.map(messageToJson));
  const read = (JSON.parse(stored) as unknown[]).map((json) => messageFromJson(json as never));
  expectThat(textOf(read) === stored, 'the stored list is read as another one');
  const target = random.pick(TARGETS);
  const refused = checkRequest(target, project(target, messages).request);
  expectThat(refused.length === 0, `a request to ${target} is refused: ${JSON.stringify(refused[0])}`);
}
