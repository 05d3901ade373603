/** A copy of a store is the same store: on every pair of backends, interrupted anywhere, and never over something else. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json.js';
import { copyStorage } from '../../src/storage/copy-storage.js';
import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../src/storage/ports.js';
import { awkwardRecords } from '../../src/storage/testing/awkward-samples.js';
import {
  describeCopies,
  describeInterruptions,
  describeValues,
  fill,
  JOURNAL_FILE,
} from './copy-contract.js';
import {
  appendTo,
  digestOf,
  FILE,
  journalState,
  MEMORY,
  numbered,
  openStore,
  QUICK_PAIRS,
  SQLITE,
  stateOf,
  TINY_FILE,
} from './copy-kit.js';

const EMPTY_DIGEST = digestOf('');

describeValues([FILE, SQLITE]);
describeCopies(QUICK_PAIRS);
describeInterruptions([MEMORY, FILE], 19);

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
      'numbers that begin before those of the source',
      'JOURNAL_CONFLICT',
      (target) => appendTo(target, ['j', 'removed'], [], (journal) => journal.continueAfter(2)),
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

/** Somebody appends a record each time that a reader asks where the journal ends. The returned function ends it. */
async function appendAtEachHead(
  source: MemoryStorage,
  name: readonly string[],
): Promise<() => Promise<void>> {
  const writer = await source.openJournal<JsonObject>(name);
  const open = source.openJournal.bind(source);
  source.openJournal = async <R extends JsonObject>(...args: Parameters<typeof open>) => {
    const journal = await open<R>(...args);
    const head = journal.head.bind(journal);
    journal.head = async () => {
      await writer.append([{ n: 'late' }]);
      return head();
    };
    return journal;
  };
  return async () => {
    source.openJournal = open;
    await writer.close();
  };
}

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
    const target = await openStore(SQLITE);
    const stop = await appendAtEachHead(source, ['j']);
    await copyStorage(source, target).catch(() => {}); // it may say that it is not the same
    await stop();
    expect((await journalState(source, ['j'])).head[0]).toBeGreaterThan(4);
    await copyStorage(source, target);
    expect(await stateOf(target)).toStrictEqual(await stateOf(source));
  });

  it('in a folder tells only of what can be read under the name that it gives', async () => {
    const source = await openStore(FILE);
    await source.documents.write(['d', 'ours'], 1);
    for (const name of ['README.txt', 'Log.jsonl', '%zz', '.tmp-1', 'A.000001.jsonl', 'Store.archive'])
      await fs.writeFile(path.join(source.place, 'd', name), '{"n":1}\n');
    await fs.mkdir(path.join(source.place, 'Other-Tool'));
    await fs.writeFile(path.join(source.place, 'Other-Tool', 'log.jsonl'), '{"n":1}\n');
    for await (const { kind, name } of source.contents([])) {
      const found =
        kind === 'document'
          ? await source.documents.readBytes(name)
          : (await journalState(source, name)).records[0];
      expect([kind, name, found ?? null]).not.toStrictEqual([kind, name, null]);
    }
    const target = await openStore(SQLITE);
    await copyStorage(source, target);
    expect((await journalState(target, ['Other-Tool', 'log'])).records).toHaveLength(1);
  });

  it('is copied only below the names that are asked for, and without those that are left out', async () => {
    const [source, target] = [new MemoryStorage(), await openStore(SQLITE)];
    await fill(source);
    await source.blobs(['b', 'other']).put(Buffer.from('two'));
    await copyStorage(source, target, {
      prefixes: [['d'], ['b'], ['b']],
      except: [
        ['d', 'json'],
        ['b', 'deeper'],
      ],
    });
    expect(Object.keys(await stateOf(target)).sort()).toStrictEqual([
      'blobs ["b","other"]',
      'document ["d","empty"]',
      'document ["d","no-json.bin"]',
    ]);
  });

  it('that has a document with the name of a file of a journal is not robbed of it in silence', async () => {
    const [source, target] = [await openStore(FILE), new MemoryStorage()];
    await source.documents.write(['d', JOURNAL_FILE], { n: 1 });
    const outcome = await copyStorage(source, target).then(
      async () => (await target.documents.read(['d', JOURNAL_FILE]))?.value,
      ({ code }: { code?: string }) => code,
    );
    expect([{ n: 1 }, 'JOURNAL_DAMAGED', 'INVALID_NAME']).toContainEqual(outcome);
  });

  it.each([MEMORY, FILE, SQLITE])(
    'of kind $name tells what lies below a name, and not what lies in it',
    async (kind) => {
      const source = await openStore(kind);
      await appendTo(source, ['a'], numbered(1, 1));
      await appendTo(source, ['a', 'below'], numbered(1, 1));
      await source.blobs(['a']).put(Buffer.from('in it'));
      await source.blobs(['a', 'below']).put(Buffer.from('below'));
      expect(Object.keys(await stateOf(source, ['a'])).sort()).toStrictEqual([
        'blobs ["a","below"]',
        'journal ["a","below"]',
      ]);
    },
  );

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
    for (const to of [SQLITE, MEMORY, FILE]) {
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
