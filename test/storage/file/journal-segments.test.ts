/** Segments: rotation, headers, archive, and a journal that a crash left between two of them. */
import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { decodeLine } from '../../../src/storage/file/journal-line.js';
import { damageOf, entriesOf, fileFixture, recordsOf, seqsOf } from './file-fixture.js';

const firstLine = (text: string) => decodeLine(Buffer.from(text.slice(0, text.indexOf('\n')), 'latin1'));

/** Six records, each in a segment of its own. */
async function sixSegments() {
  const fixture = await fileFixture();
  const journal = await fixture.journal({ segmentBytesMax: 0 });
  for (let n = 1; n <= 6; n += 1) await journal.append([{ n }]);
  await journal.close();
  return fixture;
}

describe('segments', () => {
  it('are numbered when sealed, and the live one has the plain name', async () => {
    const { names, reader } = await sixSegments();
    expect(await names()).toEqual([
      'traces.000001-1.jsonl',
      'traces.000002-1.jsonl',
      'traces.000003-1.jsonl',
      'traces.000004-1.jsonl',
      'traces.000005-1.jsonl',
      'traces.jsonl',
    ]);
    expect(await seqsOf(await reader())).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await damageOf(await reader())).toEqual([]);
  });

  it('start with a header that says where the one before ends, and with which number', async () => {
    const { names, text } = await sixSegments();
    const files = await names();
    for (const [index, name] of files.slice(1).entries()) {
      expect(firstLine(await text(name))).toEqual({
        kind: 'header',
        header: {
          segment: index + 2,
          prevLength: (await text(files[index]!)).length,
          prevSeq: index + 1,
          fence: expect.any(Number),
        },
      });
    }
  });

  it('are never changed once sealed', async () => {
    const { text, journal } = await sixSegments();
    const before = await text('traces.000003-1.jsonl');
    const opened = await journal({ segmentBytesMax: 0 });
    await opened.append([{ n: 7 }]);
    await opened.append([{ n: 8 }]);
    expect(await text('traces.000003-1.jsonl')).toBe(before);
    expect(await seqsOf(opened)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('keep cursors good when they are sealed and archived', async () => {
    const { journal } = await fileFixture();
    const opened = await journal();
    const first = await opened.append([{ n: 1 }]);
    await opened.append([{ n: 2 }]);
    await opened.archiveBefore(3);
    await opened.append([{ n: 3 }]);
    const seen = [];
    for await (const entry of opened.read({ cursor: first.cursor, archived: true })) {
      seen.push(entry.kind === 'record' && entry.seq);
    }
    expect(seen).toEqual([1, 2, 3]);
  });

  it('that are missing are reported, and the rest is read', async () => {
    const { file, reader } = await sixSegments();
    await fs.rm(file('traces.000004-1.jsonl'));
    const opened = await reader();
    expect(await seqsOf(opened)).toEqual([1, 2, 3, 5, 6]);
    expect((await damageOf(opened)).map((entry) => entry.reason)).toEqual([
      'missing-segment',
      'sequence-gap',
    ]);
  });

  it('of another journal with a longer name are not taken for one’s own', async () => {
    const { storage } = await fileFixture();
    const store = storage({ segmentBytesMax: 0 });
    const names = [['traces'], ['traces.more'], ['traces.1'], ['traces.archive'], ['traces.00001']];
    for (const name of names) {
      const journal = await store.openJournal(name);
      for (const n of [1, 2, 3]) await journal.append([{ name, n }]);
    }
    for (const name of names) {
      const opened = await storage().openJournal(name, { readOnly: true });
      expect(await recordsOf(opened)).toEqual([1, 2, 3].map((n) => ({ name, n })));
    }
  });
});

describe('archiveBefore', () => {
  it('moves whole segments into a folder beside, and leaves the last one that is needed', async () => {
    const { file, names, journal } = await sixSegments();
    const opened = await journal({ segmentBytesMax: 0 });
    await opened.archiveBefore(4);
    expect(await seqsOf(opened)).toEqual([4, 5, 6]);
    expect((await fs.readdir(file('traces.archive'))).sort()).toEqual([
      'traces.000001-1.jsonl',
      'traces.000002-1.jsonl',
      'traces.000003-1.jsonl',
    ]);
    expect((await names()).includes('traces.000004-1.jsonl')).toBe(true);
  });

  it('keeps the numbers when everything is archived and the live header is damaged', async () => {
    const { text, put, journal } = await fileFixture();
    const first = await journal();
    for (const n of [1, 2, 3]) await first.append([{ n }]);
    await first.archiveBefore(4);
    await first.close();
    await put('traces.jsonl', (await text('traces.jsonl')).replace('_prev_seq":3', '_prev_seq":2'));
    const opened = await journal();
    expect((await opened.append([{ n: 4 }])).seq).toBeGreaterThan(3);
  });
});

describe('a crash between two segments', () => {
  it('after the live file was renamed loses nothing: the next owner goes on', async () => {
    const { file, journal } = await sixSegments();
    await fs.rename(file('traces.jsonl'), file('traces.000006.jsonl'));
    const opened = await journal();
    expect(await opened.head()).toMatchObject({ seq: 6 });
    expect((await opened.append([{ n: 7 }])).seq).toBe(7);
    expect(await seqsOf(opened)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(await damageOf(opened)).toEqual([]);
  });

  it('in the header of the new one loses nothing, wherever it is torn', async () => {
    const { text, put, file, journal, names } = await sixSegments();
    await fs.rename(file('traces.jsonl'), file('traces.000006.jsonl'));
    const header = `${(await text('traces.000006.jsonl')).split('\n')[0]!.replace('6', '7')}\n`;
    for (let cut = 0; cut < header.length; cut += 7) {
      await put('traces.jsonl', header.slice(0, cut));
      const opened = await journal();
      expect(await opened.head()).toMatchObject({ seq: 6 });
      expect(await seqsOf(opened)).toEqual([1, 2, 3, 4, 5, 6]);
      await opened.close();
    }
    const opened = await journal();
    expect((await opened.append([{ n: 7 }])).seq).toBe(7);
    expect(await seqsOf(opened)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(await damageOf(opened)).toEqual([]);
    expect((await names()).filter((name) => /\.000007-\d+\.[0-9a-f]{8}\.jsonl$/.test(name))).toHaveLength(1);
  });

  it('leaves a torn header alone when the journal is opened for reading only', async () => {
    const { put, file, text, names, reader } = await sixSegments();
    await fs.rename(file('traces.jsonl'), file('traces.000006.jsonl'));
    await put('traces.jsonl', '{"_segm');
    const before = await names();
    expect(await seqsOf(await reader())).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await text('traces.jsonl')).toBe('{"_segm');
    expect(await names()).toEqual(before);
  });
});

describe('a reader and a writer that seals', () => {
  it('agree: a slow reader meets each record once while segments are sealed under it', async () => {
    const { journal } = await fileFixture();
    const opened = await journal({ segmentBytesMax: 0 });
    for (const n of [1, 2, 3, 4]) await opened.append([{ n }]);
    const seen: number[] = [];
    let n = 4;
    for await (const entry of opened.read()) {
      expect(entry.kind).toBe('record');
      if (entry.kind === 'record') seen.push(entry.seq);
      if (n < 12) await opened.append([{ n: ++n }]);
    }
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(await seqsOf(opened)).toHaveLength(n);
  });

  it('agree also when segments are archived under it', async () => {
    const { journal } = await fileFixture();
    const opened = await journal({ segmentBytesMax: 0 });
    for (const n of [1, 2, 3, 4]) await opened.append([{ n }]);
    const seen: number[] = [];
    for await (const entry of opened.read()) {
      expect(entry.kind).toBe('record');
      if (entry.kind === 'record') seen.push(entry.seq);
      if (seen.length === 1) await opened.archiveBefore(5);
    }
    expect(seen).toEqual([1, 2, 3, 4]);
    expect(await entriesOf(opened)).toEqual([]);
  });

  it('agree from process to process, while both run', async () => {
    const { journal, reader } = await fileFixture();
    const opened = await journal({ segmentBytesMax: 400 });
    const follower = await reader();
    let appending = true;
    const writing = (async () => {
      for (let n = 1; n <= 150; n += 1) await opened.append([{ n }]);
      appending = false;
    })();
    let last = 0;
    while (appending) {
      const entries = await entriesOf(follower);
      expect(entries.filter((entry) => entry.kind === 'damage')).toEqual([]);
      expect(entries.length).toBeGreaterThanOrEqual(last);
      last = entries.length;
    }
    await writing;
    expect(await seqsOf(follower)).toHaveLength(150);
  });
});
