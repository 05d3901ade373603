/** Every way in, each with the histories that it can express and the list that a restore has to give. */
import fc from 'fast-check';
import { isRekindleError } from '../../src/core/errors.js';
import { agentExists } from '../../src/memory/open-memory.js';
import type { Message } from '../../src/messages/message.js';
import type { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import { expectThat } from '../fuzz/fuzz-target.js';
import { AGENT, newStore, restoreTwice } from '../fuzz/restored.js';
import { ANSWER_WAYS } from './answer-ways.js';
import { expectEqual, expectRestorable } from './compare.js';
import { FOLDER_WAYS } from './folder-ways.js';
import { HOST_WAYS } from './host-ways.js';
import { IMPORT_WAYS } from './import-ways.js';

export interface Expected {
  readonly what: string;
  readonly messages: readonly Message[];
}

export interface WayIn {
  readonly name: string;
  readonly originals: fc.Arbitrary<Message[]>;
  /** The part of the count that it takes in a run of all ways. Left out: all of it. */
  readonly share?: number;
  /**
   * Brings the history in as the agent `AGENT`. Null where it cannot be expressed this way.
   * @throws RekindleError where it is refused
   */
  bring(history: readonly Message[], storage: MemoryStorage): Promise<readonly Expected[] | null>;
  /** After a refusal. Left out: there is no agent, or one that can be restored. */
  expectUntouched?(storage: MemoryStorage): Promise<void>;
}

export const WAYS: readonly WayIn[] = [...IMPORT_WAYS, ...FOLDER_WAYS, ...HOST_WAYS, ...ANSWER_WAYS];

export type Verdict = 'accepted' | 'refused' | 'not expressed';

/** @throws what the history shows to be broken */
export async function tryWay(way: WayIn, history: readonly Message[]): Promise<Verdict> {
  const { storage, later } = newStore();
  let expected: readonly Expected[] | null;
  try {
    expected = await way.bring(history, storage);
  } catch (thrown) {
    if (!isRekindleError(thrown)) throw thrown;
    later();
    await (way.expectUntouched ?? expectRestorableOrNone)(storage);
    return 'refused';
  }
  if (!expected) return 'not expressed';
  later();
  const restored = await expectRestorable(storage, later);
  for (const { what, messages } of expected) expectEqual(restored, messages, what);
  return 'accepted';
}

async function expectRestorableOrNone(storage: MemoryStorage): Promise<void> {
  if (await agentExists(storage, AGENT)) await restoreTwice(storage);
}

export function wayNamed(name: string): WayIn {
  const way = WAYS.find((candidate) => candidate.name === name);
  expectThat(way !== undefined, `no such way: ${name}; there are ${WAYS.map((one) => one.name).join(', ')}`);
  return way!;
}

export function propertyOf(way: WayIn, tell: (verdict: Verdict) => void = () => {}) {
  return fc.asyncProperty(way.originals, async (history) => {
    tell(await tryWay(way, history));
  });
}
