/** Bugs that the property must catch: a harness that misses one is no evidence. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/core/clock.js';
import type { JsonObject } from '../../src/core/json.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type { AppendOptions, JournalOptions, Name, StorageBackend } from '../../src/storage/ports.js';
import { conversation, type Step } from './conversation.js';
import { Session } from './session.js';

type Bug = (rows: readonly JsonObject[]) => readonly JsonObject[];

const of = (row: JsonObject, type: string) => row['trace_type'] === type;

const BUGS: readonly (readonly [string, Bug])[] = [
  ['the last trace of a commit is not written', (rows) => (rows.length > 1 ? rows.slice(0, -1) : rows)],
  [
    'user messages are written twice',
    (rows) => rows.flatMap((row) => (of(row, 'user') ? [row, row] : [row])),
  ],
  ['a commit is written in another order', (rows) => rows.toReversed()],
  [
    'the turn of a result is lost',
    (rows) => rows.map((row) => (of(row, 'tool_result') ? { ...row, turn_id: 'turn_0000' } : row)),
  ],
  ['the id of a response is lost', (rows) => rows.map(({ message_id: _, ...row }) => row as JsonObject)],
  [
    'a compaction forgets its epoch',
    (rows) => rows.map((row) => (of(row, 'compaction') ? { ...row, epoch_id: 1 } : row)),
  ],
  [
    'a compaction forgets what was pinned',
    (rows) => rows.map((row) => (of(row, 'compaction') ? unpinned(row) : row)),
  ],
];

function unpinned(row: JsonObject): JsonObject {
  const messages = (row['messages'] as JsonObject[]).map(
    ({ pinned: _, ...message }) => message as JsonObject,
  );
  return { ...row, messages };
}

/** An object as it is, but for one method. */
function withMethod<T extends object>(target: T, name: keyof T, method: unknown): T {
  return new Proxy(target, {
    get(_, key) {
      if (key === name) return method;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The store as it is, but for what is written into the traces. */
function planted(storage: StorageBackend, bug: Bug): StorageBackend {
  return withMethod(storage, 'openJournal', async (name: Name, options?: JournalOptions) => {
    const journal = await storage.openJournal(name, options);
    if (name.at(-1) !== 'raw_traces') return journal;
    return withMethod(journal, 'append', (rows: readonly JsonObject[], options?: AppendOptions) =>
      journal.append(bug(rows), options),
    );
  });
}

const CRASH: Step & { do: 'crash' } = { do: 'crash', cache: 'last', pick: 3, prompt: null };

/** What the property says of a store with this bug, over the same conversations each time. */
async function isCaught(bug: Bug): Promise<boolean> {
  const property = fc.asyncProperty(conversation, async (steps) => {
    const clock = new ManualClock();
    const storage = planted(new MemoryStorage({ clock }), bug);
    const session = new Session(() => {
      clock.advance(60_000);
      return storage;
    });
    await session.start();
    await session.play([...steps, CRASH]);
  });
  const { failed } = await fc.check(property, { seed: 7, numRuns: 60, endOnFailure: true });
  return failed;
}

describe('the property that restored equals live', () => {
  it.each(BUGS)('catches it when %s', async (_, bug) => {
    expect(await isCaught(bug)).toBe(true);
  });

  it('finds nothing where no bug is planted', async () => {
    expect(await isCaught((rows) => rows)).toBe(false);
  });
});
