/** A copy of a store is the same store: on every pair of backends, interrupted anywhere, and never over something else. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
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
} from '../../src/storage/testing/index.js';
import {
  appendTo,
  digestOf,
  FILE,
  journalState,
  numbered,
  openStore,
  PAIRS,
  SQLITE,
  stateOf,
  TARGETS,
  TINY_FILE,
} from './copy-kit.js';

const EMPTY_DIGEST = digestOf('');

/** Journals in every state, documents, and blobs in two scopes. */
async function fill(backend: StorageBackend): Promise<void> {
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

describe.each(PAIRS)('a copy from $title', ({ from, to }) => {
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

describe.each(TARGETS.filter(({ name }) => name !== 'memory'))('a copy to $name', (to) => {
  it('keeps awkward records as they are', async () => {
    const [source, target] = [new MemoryStorage(), await openStore(to)];
    await appendTo(
      source,
      ['j'],
      awkwardRecords().map(([title, record]) => ({ title, record })),
    );
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

  it.each(TARGETS.map((target) => ({ name: target.name, target })))(
    'at any call of $name, with the call made or not, ends equal when it is repeated',
    async ({ target: to }) => {
      const source = await small();
      const expected = await stateOf(source);
      const counter = countCalls();
      await copyStorage(source, faultyStorage(await openStore(to), counter.plan));
      const numbers = counter.calls.filter(({ operation }) => changes(operation)).map(({ number }) => number);
      expect(numbers.length).toBeGreaterThan(20);
      const tried = to.name === 'memory' ? numbers : numbers.filter((_, at) => at % 7 === 3);
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

describe('a target that holds something else', () => {
  const others: readonly [string, string, (target: StorageBackend) => Promise<unknown>][] = [
    ['a document', 'DOCUMENT_CONFLICT', (target) => target.documents.write(['d', 'json'], { a: 2 })],
    [
      'an empty document',
      'DOCUMENT_CONFLICT',
      (target) => target.documents.writeBytes(['d', 'json'], Buffer.of()),
    ],
    ['other records', 'JOURNAL_CONFLICT', (target) => appendTo(target, ['j', 'whole'], [{ n: 'other' }])],
    ['more records', 'JOURNAL_CONFLICT', (target) => appendTo(target, ['j', 'whole'], numbered(1, 13))],
    [
      'records where the source has removed them',
      'JOURNAL_CONFLICT',
      (target) => appendTo(target, ['j', 'all removed'], [{ n: 'other' }]),
    ],
    [
      'other numbers',
      'JOURNAL_CONFLICT',
      (target) => appendTo(target, ['j', 'whole'], [], (journal) => journal.continueAfter(3)),
    ],
    [
      'higher numbers than the source',
      'JOURNAL_CONFLICT',
      (target) => appendTo(target, ['j', 'all removed'], [], (journal) => journal.continueAfter(100)),
    ],
  ];

  describe.each([FILE, SQLITE])('of kind $name', (to) => {
    it.each(others)('(%s) is refused with %s before anything is written', async (_, code, write) => {
      const [source, target] = [new MemoryStorage(), await openStore(to)];
      await fill(source);
      await write(target);
      const before = await stateOf(target);
      await expect(copyStorage(source, target)).rejects.toMatchObject({ code });
      expect(await stateOf(target)).toStrictEqual(before);
    });

    it('beside what is copied keeps it', async () => {
      const [source, target] = [new MemoryStorage(), await openStore(to)];
      await fill(source);
      await target.documents.write(['other'], { a: 2 });
      await appendTo(target, ['j', 'other'], [{ n: 1 }]);
      await target.blobs(['b']).put(Buffer.from('other'));
      const before = await stateOf(target);
      await copyStorage(source, target);
      const after = await stateOf(target);
      expect(after).toMatchObject({
        ...before,
        'blobs ["b"]': expect.arrayContaining(before['blobs ["b"]'] as []),
      });
      expect(Object.keys(after)).toHaveLength(Object.keys(await stateOf(source)).length + 2);
    });
  });

  it('whose journal somebody writes is refused with LEASE_HELD, and left as it is', async () => {
    const [source, target] = [new MemoryStorage(), await openStore(SQLITE)];
    await appendTo(source, ['j'], numbered(1, 3));
    const writer = await target.openJournal(['j']);
    await expect(copyStorage(source, target)).rejects.toMatchObject({ code: 'LEASE_HELD' });
    await writer.close();
    expect(await stateOf(target)).toStrictEqual({});
  });

  it('with a damaged blob under the same digest is not passed off as a whole copy', async () => {
    const opened = await FILE.open();
    try {
      const source = new MemoryStorage();
      const { digest } = await source.blobs(['b']).put(Buffer.from('the bytes'));
      await copyStorage(source, opened.backend);
      const file = path.join(opened.backend.place, 'b', digest.slice(0, 2), digest);
      await fs.chmod(file, 0o600);
      await fs.writeFile(file, 'the bites');
      const outcome = await copyStorage(source, opened.backend).then(
        async () => Buffer.from((await opened.backend.blobs(['b']).get(digest)) ?? []).toString(),
        ({ code }: { code?: string }) => code,
      );
      expect(['the bytes', 'BLOB_DAMAGED']).toContain(outcome);
    } finally {
      await opened.destroy();
    }
  });
});

describe('a source', () => {
  async function damagedSource(name: string, change: (text: string) => string) {
    const source = await openStore(FILE);
    await appendTo(source, ['j', 'good'], numbered(1, 3));
    await appendTo(source, ['j', 'harmed'], numbered(1, 5));
    const file = path.join(source.place, 'j', name);
    await fs.writeFile(file, change(await fs.readFile(file, 'utf8')));
    return source;
  }

  it.each<[string, (text: string) => string]>([
    ['a flipped byte', (text) => text.replace('"n":3', '"n":8')],
    ['a missing line', (text) => text.split('\n').toSpliced(2, 1).join('\n')],
    ['a flipped byte in the last record', (text) => text.replace('"n":5', '"n":8')],
    ['a flipped byte in the first record', (text) => text.replace('"n":1', '"n":8')],
    ['a doubled line', (text) => text.split('\n').toSpliced(2, 0, text.split('\n')[1]!).join('\n')],
  ])('with %s is refused with JOURNAL_DAMAGED, and nothing of that journal is copied', async (_, change) => {
    const source = await damagedSource('harmed.jsonl', change);
    const target = await openStore(SQLITE);
    await expect(copyStorage(source, target)).rejects.toMatchObject({
      code: 'JOURNAL_DAMAGED',
      details: { name: ['j', 'harmed'] },
    });
    expect(await journalState(target, ['j', 'harmed'])).toMatchObject({ head: [0, null], records: [] });
  });

  it('with an unfinished last record is copied up to it: that was never acknowledged', async () => {
    const source = await damagedSource('harmed.jsonl', (text) => text.slice(0, -20));
    const target = await openStore(SQLITE);
    await copyStorage(source, target);
    expect(await stateOf(target)).toStrictEqual(await stateOf(source));
    expect((await journalState(target, ['j', 'harmed'])).head[0]).toBe(4);
  });

  it('with a damaged blob is refused with BLOB_DAMAGED, and the damaged bytes are not copied', async () => {
    const source = await openStore(FILE);
    const { digest } = await source.blobs(['b']).put(Buffer.from('the bytes'));
    const file = path.join(source.place, 'b', digest.slice(0, 2), digest);
    await fs.chmod(file, 0o600);
    await fs.writeFile(file, 'the bites');
    const target = await openStore(SQLITE);
    await expect(copyStorage(source, target)).rejects.toMatchObject({ code: 'BLOB_DAMAGED' });
    expect(await stateOf(target)).toStrictEqual({});
  });

  it('with lines of another tool, without numbers, is copied with the numbers that a reader gives them', async () => {
    const source = await openStore(FILE);
    await fs.mkdir(path.join(source.place, 'j'), { recursive: true });
    await fs.writeFile(
      path.join(source.place, 'j', 'foreign.jsonl'),
      '{"a":1}\n\n{"b":[1,"é"]}\r\n{"c":1}\n',
    );
    const target = await openStore(SQLITE);
    await copyStorage(source, target);
    const [ours, theirs] = [
      await journalState(source, ['j', 'foreign']),
      await journalState(target, ['j', 'foreign']),
    ];
    const numbersOf = ({ records }: typeof ours) => records.map(([seq, , digest]) => [seq, digest]);
    expect(numbersOf(theirs)).toStrictEqual(numbersOf(ours));
    expect(theirs.records.every(([, crc]) => crc !== null)).toBe(true);
    expect(await copyStorage(source, target)).toMatchObject({ journals: 1, records: 3, skipped: 1 });
  });

  it.each([FILE, SQLITE])('of kind $name that is written meanwhile gives a whole beginning', async (kind) => {
    const [source, target] = [await openStore(kind), await openStore(SQLITE)];
    await appendTo(source, ['j'], numbered(1, 600));
    const writer = await source.openJournal<JsonObject>(['j']);
    let told = 0;
    const writing: Promise<unknown>[] = [];
    const onProgress = () => {
      told += 1;
      writing.push(writer.append(numbered(600 + told * 10 - 9, 600 + told * 10)));
    };
    await copyStorage(source, target, { onProgress });
    await Promise.all(writing);
    expect(told).toBeGreaterThan(0);
    const [all, copied] = [await journalState(source, ['j']), await journalState(target, ['j'])];
    expect(copied.head[0]).toBeGreaterThanOrEqual(600);
    expect(copied.records).toStrictEqual(all.records.slice(0, copied.head[0]));
    await writer.close();
    await copyStorage(source, target);
    expect(await stateOf(target)).toStrictEqual(await stateOf(source));
  });

  it('whose records were all removed, and that is written meanwhile, keeps each number for one record', async () => {
    const source = new MemoryStorage();
    await appendTo(source, ['j'], numbered(1, 4), (journal) => journal.removeBefore(5));
    const writer = await source.openJournal<JsonObject>(['j']);
    const target = await openStore(SQLITE);
    await copyStorage(source, target, { onProgress: () => void writer.append([{ n: 'late' }]) }).catch(
      () => {},
    );
    await writer.close();
    await copyStorage(source, target);
    expect(await stateOf(target)).toStrictEqual(await stateOf(source));
  });

  it('is copied only below the names that are asked for, and without those that are left out', async () => {
    const [source, target] = [new MemoryStorage(), await openStore(SQLITE)];
    await fill(source);
    await copyStorage(source, target, {
      prefixes: [['d'], ['b'], ['b']],
      except: [
        ['d', 'json'],
        ['b', 'deeper'],
      ],
    });
    expect(Object.keys(await stateOf(target)).sort()).toStrictEqual([
      'blobs ["b"]',
      'document ["d","empty"]',
      'document ["d","no-json.bin"]',
    ]);
  });

  it('of nothing is an empty copy', async () => {
    const [source, target] = [await openStore(SQLITE), await openStore(FILE)];
    expect(await copyStorage(source, target)).toStrictEqual({
      journals: 0,
      records: 0,
      documents: 0,
      blobs: 0,
      skipped: 0,
    });
    expect(await stateOf(target)).toStrictEqual({});
  });
});

describe('a copy of a copy', () => {
  it('from tiny files to each kind and back to files is the first one again', async () => {
    const first = await openStore(TINY_FILE);
    await fill(first);
    await appendTo(
      first,
      ['j', 'odd'],
      awkwardRecords().map(([, record]) => record),
    );
    let from = first;
    for (const to of [...TARGETS.toReversed(), FILE]) {
      const next = await openStore(to);
      await copyStorage(from, next);
      from = next;
    }
    expect(await stateOf(from)).toStrictEqual(await stateOf(first));
    for (const name of ['json', 'empty', 'no-json.bin'])
      expect(await from.documents.readBytes(['d', name])).toStrictEqual(
        await first.documents.readBytes(['d', name]),
      );
    expect(digestOf((await from.blobs(['b']).get(EMPTY_DIGEST))!)).toBe(EMPTY_DIGEST);
  });
});
