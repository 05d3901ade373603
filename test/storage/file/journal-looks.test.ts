/** Reads that begin together share one look at the folder and the files that they start in; each sees what it would see alone. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/json.js';
import type { Cursor, Journal, JournalEntry } from '../../../src/storage/ports.js';
import { runParameters } from '../../property/seed.js';
import { type FileFixture, fileFixture } from './file-fixture.js';
import { ProbeFileSystem } from './probe-file-system.js';

interface Placed {
  readonly seq: number;
  readonly cursor: Cursor;
}

/** Counts what a look costs. */
class CountingFileSystem extends ProbeFileSystem {
  lists = 0;

  override async list(folder: string): Promise<string[]> {
    this.lists += 1;
    return super.list(folder);
  }
}

async function readAt(journal: Journal<JsonObject>, { seq, cursor }: Placed, limit = 1) {
  const entries: JournalEntry<JsonObject>[] = [];
  for await (const entry of journal.read({ after: seq - 1, cursor, limit })) entries.push(entry);
  return entries;
}

async function firstAt(journal: Journal<JsonObject>, { seq, cursor }: Placed): Promise<void> {
  for await (const _ of journal.read({ after: seq - 1, cursor, limit: 1 })) return;
}

/** Records of different sizes, one append each, in segments of about 400 bytes. */
async function written(fixture: FileFixture, count: number) {
  const fileSystem = new CountingFileSystem();
  const journal = await fixture.journal({ segmentBytesMax: 400, fileSystem });
  const places: Placed[] = [];
  for (let n = 1; n <= count; n += 1)
    places.push(
      await journal.append([{ n, text: 'é'.repeat((n * 37) % 90) + 'x'.repeat(n % 11 === 0 ? 9_000 : 0) }]),
    );
  return { journal, places, fileSystem };
}

describe('reads that begin together', () => {
  it('give what each gives alone, to the writer and to another process', async () => {
    const fixture = await fileFixture();
    const { journal, places } = await written(fixture, 40);
    await journal.erase([7, 8, 30]);
    const reader = await fixture.reader();
    const alone = new Map<Journal<JsonObject>, JournalEntry<JsonObject>[][]>();
    for (const of of [journal, reader]) {
      const each: JournalEntry<JsonObject>[][] = [];
      for (const place of places) each.push(await readAt(of, place, 3));
      alone.set(of, each);
    }
    expect(alone.get(reader)).toEqual(alone.get(journal));
    const run = fc.asyncProperty(
      fc.array(fc.nat(places.length - 1), { minLength: 1, maxLength: 40 }),
      fc.constantFrom(journal, reader),
      async (chosen, of) => {
        const together = await Promise.all(chosen.map((at) => readAt(of, places[at]!, 3)));
        expect(together).toEqual(chosen.map((at) => alone.get(of)![at]));
      },
    );
    await fc.assert(run, runParameters('reads that begin together', 12));
  });

  it('look at the folder once, and open each file that they start in once', async () => {
    const { journal, places, fileSystem } = await written(await fileFixture(), 40);
    const cost = async (reads: readonly Placed[]) => {
      const [lists, calls] = [fileSystem.lists, fileSystem.calls.length];
      await Promise.all(reads.map((place) => firstAt(journal, place)));
      const opened = fileSystem.calls.slice(calls).filter(({ call }) => call === 'open:read');
      return { lists: fileSystem.lists - lists, opened: opened.length };
    };
    const one = await cost(places.slice(0, 1));
    const segments = new Set(places.map(({ cursor }) => cursor.segment)).size;
    expect(segments).toBeGreaterThan(5);
    expect(await cost(places)).toEqual({ lists: one.lists, opened: one.opened + segments - 1 });
  });

  it('close every file, whichever cannot be opened and although some stop early', async () => {
    const { journal, places, fileSystem } = await written(await fileFixture(), 20);
    const before = fileSystem.openDescriptors;
    let failed = 0;
    for (let nth = 1; nth <= 25; nth += 1) {
      let opened = 0;
      fileSystem.verdict = ({ call }) => (call === 'open:read' && ++opened === nth ? 'EIO' : null);
      const all = [...places, ...places].map(async ({ seq, cursor }, at) => {
        for await (const _ of journal.read({ after: seq - 1, cursor, limit: 4 })) if (at % 2 === 0) break;
      });
      const results = await Promise.allSettled(all);
      failed += results.filter(({ status }) => status === 'rejected').length;
      expect(fileSystem.openDescriptors).toBe(before);
    }
    expect(failed).toBeGreaterThan(25);
  });

  it('share nothing with reads that begin later: these see appends, seals, archives and erasures', async () => {
    const fixture = await fileFixture();
    const { journal, places } = await written(fixture, 12);
    for (const of of [journal, await fixture.reader()]) {
      const held = of.read({ after: 0, cursor: places[0]!.cursor })[Symbol.asyncIterator]();
      await held.next(); // its look and its file stay open
      const last = await journal.append([{ n: 100 }]);
      await journal.erase([places[4]!.seq]);
      const found = await Promise.all([readAt(of, places[0]!), readAt(of, places[4]!, 1), readAt(of, last)]);
      const numbers = found.map((entries) =>
        entries.map((entry) => entry.kind === 'record' && entry.record['n']),
      );
      expect(numbers[0]).toEqual([1]);
      expect(numbers[1]).not.toContain(5);
      expect(numbers[2]).toEqual([100]);
      await held.return?.();
    }
    await journal.archiveBefore(6);
    await expect(readAt(journal, places[0]!)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});
