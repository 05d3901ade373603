/** Bugs that the property must catch: a harness that misses one is no evidence. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../src/core/clock.js';
import type { JsonObject } from '../../src/core/json.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type { Journal, JournalOptions, Name, StorageBackend } from '../../src/storage/ports.js';
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
  [
    'refused compactions are not written',
    (rows) => rows.filter((row) => row['boundary'] !== 'compaction_failed'),
  ],
];

function unpinned(row: JsonObject): JsonObject {
  const messages = (row['messages'] as JsonObject[]).map(
    ({ pinned: _, ...message }) => message as JsonObject,
  );
  return { ...row, messages };
}

/** The store as it is, but for what is written into the traces. */
function planted(storage: StorageBackend, bug: Bug): StorageBackend {
  const openJournal = async <R extends JsonObject>(
    name: Name,
    options?: JournalOptions,
  ): Promise<Journal<R>> => {
    const journal = await storage.openJournal<R>(name, options);
    if (name.at(-1) !== 'raw_traces') return journal;
    return {
      append: (rows, appendOptions) => {
        const written = bug(rows) as readonly R[];
        return journal.append(written.length > 0 ? written : rows, appendOptions);
      },
      read: (readOptions) => journal.read(readOptions),
      readBackward: () => journal.readBackward(),
      head: () => journal.head(),
      openingDamage: () => journal.openingDamage(),
      archiveBefore: (seq) => journal.archiveBefore(seq),
      close: () => journal.close(),
    };
  };
  return {
    capabilities: storage.capabilities,
    documents: storage.documents,
    leases: storage.leases,
    openJournal,
    blobs: (scope) => storage.blobs(scope),
    listNames: (prefix) => storage.listNames(prefix),
    watch: (prefix, onChange) => storage.watch(prefix, onChange),
    close: () => storage.close(),
  };
}

const CRASH: Step & { do: 'crash' } = { do: 'crash', cache: 'last', pick: 3, prompt: null };

describe('the property that restored equals live catches it when', () => {
  it.each(BUGS)('%s', async (_, bug) => {
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
    const { failed } = await fc.check(property, { seed: 7, numRuns: 200, endOnFailure: true });
    expect(failed).toBe(true);
  });
});
