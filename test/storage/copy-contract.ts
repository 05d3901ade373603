/** What a copy between each two kinds of stores has to do: the quick tests take some pairs, the long ones all. */
import { describe, expect, it } from 'vitest';
import { copyStorage } from '../../src/storage/copy-storage.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type { StorageBackend, StoredName } from '../../src/storage/ports.js';
import { AWKWARD_NAMES, awkwardRecords } from '../../src/storage/testing/awkward-samples.js';
import {
  countCalls,
  failAt,
  faultyStorage,
  loseAnswerAt,
  type StorageOperation,
  type StorageTarget,
} from '../../src/storage/testing/index.js';
import { appendTo, journalState, numbered, openStore, stateOf } from './copy-kit.js';

/** Journals in every state, documents, and blobs in two scopes. */
export async function fill(backend: StorageBackend): Promise<void> {
  await appendTo(backend, ['j', 'whole'], numbered(1, 12));
  await appendTo(backend, ['j', 'archived'], numbered(1, 12), (journal) => journal.archiveBefore(7));
  await appendTo(backend, ['j', 'removed'], numbered(1, 12), async (journal) => {
    await journal.removeBefore(5);
    await journal.archiveBefore(9);
  });
  await appendTo(backend, ['j', 'all archived'], numbered(1, 6), (journal) => journal.archiveBefore(7));
  await appendTo(backend, ['j', 'all removed'], numbered(1, 6), (journal) => journal.removeBefore(7));
  await backend.documents.write(['d', 'json'], { a: [1, 'é', null] });
  await backend.documents.writeBytes(['d', 'empty'], new Uint8Array());
  await backend.documents.writeBytes(['d', 'no-json.bin'], Buffer.from([0, 255, 10, 13, 0xc3]));
  for (const text of ['', 'one', 'two']) await backend.blobs(['b']).put(Buffer.from(text));
  await backend.blobs(['b', 'deeper']).put(Buffer.from('one'));
}

async function contentsOf(backend: StorageBackend): Promise<StoredName[]> {
  const found: StoredName[] = [];
  for await (const stored of backend.contents([])) found.push(stored);
  return found;
}

export interface Pair {
  readonly title: string;
  readonly from: StorageTarget;
  readonly to: StorageTarget;
}

export function describeCopies(pairs: readonly Pair[]): void {
  describe.each(pairs)('a copy from $title', ({ from, to }) => {
    it('has the same journals, with numbers, checksums and archive, documents and blobs', async () => {
      const [source, target] = [await openStore(from), await openStore(to)];
      await fill(source);
      const before = await stateOf(source);
      const result = await copyStorage(source, target);
      expect(await stateOf(target)).toStrictEqual(before);
      expect(await contentsOf(target)).toStrictEqual(await contentsOf(source));
      expect(await stateOf(source)).toStrictEqual(before);
      expect(result).toMatchObject({ journals: 5, documents: 3, blobs: 4, skipped: 0 });
    });

    it('made again writes nothing and says that all is there', async () => {
      const [source, target] = [await openStore(from), await openStore(to)];
      await fill(source);
      const first = await copyStorage(source, target);
      const there = await stateOf(target);
      const counter = countCalls();
      const again = await copyStorage(source, faultyStorage(target, counter.plan));
      expect(await stateOf(target)).toStrictEqual(there);
      const wrote = /^(journal\.append|journal\.continueAfter|document\.write|blob\.put)/;
      expect(counter.calls.filter(({ operation }) => wrote.test(operation))).toStrictEqual([]);
      expect(again).toStrictEqual({ ...first, skipped: 12 });
    });

    it('goes on where both went on: numbers are never used again', async () => {
      const [source, target] = [await openStore(from), await openStore(to)];
      await fill(source);
      await copyStorage(source, target);
      for (const backend of [source, target]) {
        for (const name of ['whole', 'archived', 'removed', 'all archived', 'all removed']) {
          const { head } = await journalState(backend, ['j', name]);
          await appendTo(backend, ['j', name], [{ n: 'next' }]);
          const after = await journalState(backend, ['j', name]);
          expect([name, after.head[0]]).toStrictEqual([name, head[0] + 1]);
        }
      }
      expect(await stateOf(target)).toStrictEqual(await stateOf(source));
      expect(await copyStorage(source, target)).toMatchObject({ skipped: 12 });
    });

    it('that is made later brings what came since', async () => {
      const [source, target] = [await openStore(from), await openStore(to)];
      await fill(source);
      await copyStorage(source, target);
      await appendTo(source, ['j', 'whole'], numbered(13, 20));
      await appendTo(source, ['j', 'all removed'], numbered(7, 9));
      await appendTo(source, ['j', 'new'], numbered(1, 2));
      await source.blobs(['b']).put(Buffer.from('three'));
      await copyStorage(source, target);
      expect(await stateOf(target)).toStrictEqual(await stateOf(source));
    });
  });
}

/** @param step 1 interrupts at each call, 2 at each second one */
export function describeInterruptions(targets: readonly StorageTarget[], step: number): void {
  describe('a copy that is interrupted', () => {
    /** Two small batches of records, and one of everything else. */
    async function small(): Promise<MemoryStorage> {
      const source = new MemoryStorage();
      await appendTo(source, ['a'], [...numbered(1, 3), { big: 'x'.repeat(1024 * 1024) }, ...numbered(5, 6)]);
      await appendTo(source, ['b'], numbered(1, 6), async (journal) => {
        await journal.removeBefore(3);
        await journal.archiveBefore(5);
      });
      await appendTo(source, ['c'], numbered(1, 4), (journal) => journal.removeBefore(5));
      await source.documents.write(['d'], { n: 1 });
      for (const text of ['one', 'two']) await source.blobs(['e']).put(Buffer.from(text));
      return source;
    }

    const changes = (operation: StorageOperation) =>
      /append|continueAfter|archiveBefore|writeBytes|put$|journal\.open|journal\.close|acquire|readBytes|has$|head$/.test(
        operation,
      );

    it.each(targets.map((target) => ({ name: target.name, target })))(
      'at any call of $name, with the call made or not, ends equal when it is repeated',
      async ({ target: to }) => {
        const source = await small();
        const expected = await stateOf(source);
        const counter = countCalls();
        await copyStorage(source, faultyStorage(await openStore(to), counter.plan));
        const numbers = counter.calls
          .filter(({ operation }) => changes(operation))
          .map(({ number }) => number);
        expect(numbers.length).toBeGreaterThan(20);
        const tried = numbers.filter((_, at) => at % step === 3 % step);
        for (const number of tried) {
          for (const plan of [failAt, loseAnswerAt]) {
            const opened = await to.open();
            const { operation } = counter.calls[number - 1]!;
            const label = `${number} ${operation} ${plan.name}`;
            const thrown = await copyStorage(source, faultyStorage(opened.backend, plan(number))).then(
              () => 'none',
              ({ code }: { code?: string }) => code,
            );
            expect([label, thrown]).not.toStrictEqual([label, undefined]);
            await copyStorage(source, opened.backend).catch((cause: unknown) => {
              throw new RangeError(`${label}: the copy cannot be made again`, { cause });
            });
            expect([label, await stateOf(opened.backend)]).toStrictEqual([label, expected]);
            await opened.destroy();
          }
        }
      },
    );
  });
}

/** A name of a file of a journal, which a document should not have. */
export const JOURNAL_FILE = 'x.000001.jsonl';

export function describeValues(targets: readonly StorageTarget[]): void {
  describe.each(targets)('a copy to $name', (to) => {
    it('keeps awkward records as they are', async () => {
      const [source, target] = [new MemoryStorage(), await openStore(to)];
      await appendTo(
        source,
        ['flat'],
        awkwardRecords().map(([, record]) => record),
      );
      await copyStorage(source, target);
      expect(await stateOf(target)).toStrictEqual(await stateOf(source));
    });

    it('keeps awkward names apart, of journals, documents and blobs', async () => {
      const [source, target] = [new MemoryStorage(), await openStore(to)];
      for (const [n, name] of AWKWARD_NAMES.entries()) {
        if (name === JOURNAL_FILE) continue;
        await source.documents.write(['d', name], { n });
        if (n % 3 === 0) await appendTo(source, ['j', name, 'log'], [{ n }]);
        if (n % 3 === 1) await source.blobs(['b', name]).put(Buffer.from(`${n}`));
      }
      await copyStorage(source, target);
      expect(Object.keys(await stateOf(target)).sort()).toStrictEqual(
        Object.keys(await stateOf(source)).sort(),
      );
      expect(await stateOf(target)).toStrictEqual(await stateOf(source));
    });

    it.each([0, 1, 8191, 8192, 8193, 16_384, 16_385, 81_920])(
      'keeps documents and blobs of %i bytes byte for byte',
      async (size) => {
        const [source, target] = [new MemoryStorage(), await openStore(to)];
        const bytes = Buffer.alloc(size, 'é\0"');
        await source.documents.writeBytes(['d'], bytes);
        const { digest } = await source.blobs(['b']).put(bytes);
        await copyStorage(source, target);
        expect(Buffer.compare(bytes, (await target.documents.readBytes(['d'])) ?? Buffer.from('x'))).toBe(0);
        expect(Buffer.compare(bytes, (await target.blobs(['b']).get(digest)) ?? Buffer.from('x'))).toBe(0);
      },
    );

    it('takes records of a megabyte', async () => {
      const [source, target] = [new MemoryStorage(), await openStore(to)];
      await appendTo(
        source,
        ['j'],
        [1, 2, 3].map((n) => ({ n, text: `${n}`.repeat(1_000_000) })),
      );
      await copyStorage(source, target);
      expect(await stateOf(target)).toStrictEqual(await stateOf(source));
    });
  });
}
