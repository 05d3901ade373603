/** What opening does with the end of a journal, and reading with damage in the middle. */
import { describe, expect, it } from 'vitest';
import { damageOf, entriesOf, fileFixture, recordsOf, seqsOf } from './file-fixture.js';

async function withRecords(count: number) {
  const fixture = await fileFixture();
  const journal = await fixture.journal();
  for (let n = 1; n <= count; n += 1) await journal.append([{ n, text: `record ${n}` }]);
  await journal.close();
  const whole = await fixture.text('traces.jsonl');
  return { ...fixture, whole, lines: whole.split('\n').slice(0, -1) };
}

describe('a torn last record', () => {
  it('is set aside in a file beside, cut off and reported, wherever it is torn', async () => {
    const { put, text, names, journal, whole, lines } = await withRecords(3);
    const start = whole.lastIndexOf(lines[2]!);
    for (const cut of [1, 2, 10, lines[2]!.length - 1]) {
      const torn = whole.slice(0, start + cut);
      await put('traces.jsonl', torn);
      const opened = await journal();
      const [damage, ...more] = opened.openingDamage();
      expect(more).toEqual([]);
      expect(damage).toMatchObject({ reason: 'torn', place: 'traces.jsonl', bytes: cut });
      expect(damage!.cursor).toEqual({ segment: 1, offset: start });
      expect(await text(damage!.setAside!)).toBe(torn.slice(start));
      expect(await text('traces.jsonl')).toBe(whole.slice(0, start));
      expect(await seqsOf(opened)).toEqual([1, 2]);
      expect((await opened.append([{ again: true }])).seq).toBe(3);
      await opened.close();
    }
    expect((await names()).filter((name) => name.startsWith('traces.torn-'))).toHaveLength(4);
  });

  it('keeps each set-aside file, also when the same place tears twice', async () => {
    const { put, names, journal, whole } = await withRecords(1);
    for (const tail of ['{"a', '{"a']) {
      await put('traces.jsonl', whole + tail);
      await (await journal()).close();
    }
    expect((await names()).filter((name) => name.includes('.torn-'))).toHaveLength(2);
  });

  it('of NUL bytes, as some file systems leave it, is treated alike', async () => {
    const { put, journal, whole } = await withRecords(2);
    await put('traces.jsonl', whole + '\0'.repeat(4_096));
    const opened = await journal();
    expect(opened.openingDamage()).toMatchObject([{ reason: 'torn', bytes: 4_096 }]);
    expect((await opened.append([{ n: 3 }])).seq).toBe(3);
    expect(await seqsOf(opened)).toEqual([1, 2, 3]);
  });

  it('is reported and left alone when the journal is opened for reading only', async () => {
    const { put, text, names, reader, whole } = await withRecords(2);
    await put('traces.jsonl', `${whole}{"n":3,"te`);
    const opened = await reader();
    expect(opened.openingDamage()).toMatchObject([{ reason: 'torn', bytes: 10 }]);
    expect(opened.openingDamage()[0]).not.toHaveProperty('setAside');
    expect(await seqsOf(opened)).toEqual([1, 2]);
    expect(await text('traces.jsonl')).toBe(`${whole}{"n":3,"te`);
    expect(await names()).toEqual(['traces.jsonl']);
  });

  it('can be the whole file', async () => {
    const { put, text, journal } = await fileFixture();
    await put('traces.jsonl', '{"n":1');
    const opened = await journal();
    expect(opened.openingDamage()).toMatchObject([{ reason: 'torn', bytes: 6 }]);
    expect((await opened.append([{ n: 1 }])).seq).toBe(1);
    expect((await text('traces.jsonl')).startsWith('{"n":1,"_seq":1,')).toBe(true);
  });

  it('can be longer than any buffer', async () => {
    const { put, journal, whole } = await withRecords(2);
    await put('traces.jsonl', `${whole}{"text":"${'x'.repeat(3_000_000)}`);
    const opened = await journal();
    expect(opened.openingDamage()).toMatchObject([{ reason: 'torn', bytes: 3_000_009 }]);
    expect(await seqsOf(opened)).toEqual([1, 2]);
  });
});

describe('a last record without its newline', () => {
  it('is kept when it is whole, and gets its newline with the next append', async () => {
    const { put, text, journal, whole } = await withRecords(2);
    await put('traces.jsonl', whole.slice(0, -1));
    const opened = await journal();
    expect(opened.openingDamage()).toEqual([]);
    expect(await seqsOf(opened)).toEqual([1, 2]);
    const result = await opened.append([{ n: 3 }]);
    expect(result).toMatchObject({ seq: 3, cursor: { segment: 1, offset: whole.length } });
    expect((await text('traces.jsonl')).startsWith(`${whole}{"n":3,`)).toBe(true);
    expect(await seqsOf(opened)).toEqual([1, 2, 3]);
  });

  it('loses none of its bytes when other bytes follow it: only these are set aside', async () => {
    const { put, text, journal, whole } = await withRecords(2);
    await put('traces.jsonl', `${whole.slice(0, -1)}\u000b`);
    const opened = await journal();
    const [damage] = opened.openingDamage();
    expect(damage).toMatchObject({ reason: 'torn', bytes: 1, cursor: { offset: whole.length - 1 } });
    expect(await text(damage!.setAside!)).toBe('\u000b');
    expect((await opened.append([{ n: 3 }])).seq).toBe(3);
    expect(await seqsOf(opened)).toEqual([1, 2, 3]);
    expect(await damageOf(opened)).toEqual([]);
  });

  it('that begins with whole records keeps these', async () => {
    const { put, journal, lines } = await withRecords(3);
    await put('traces.jsonl', lines[0]! + lines[1]! + lines[2]!.slice(0, 9));
    const opened = await journal();
    expect(opened.openingDamage()).toMatchObject([{ reason: 'torn', bytes: 9 }]);
    expect(await seqsOf(opened)).toEqual([1, 2]);
    expect((await opened.append([{ n: 3 }])).seq).toBe(3);
    expect(await seqsOf(opened)).toEqual([1, 2, 3]);
  });
});

describe('damage in the middle', () => {
  it('is reported with its byte range, skipped, and never rewritten', async () => {
    const { put, text, journal, whole, lines } = await withRecords(5);
    const broken = whole.replace('record 3', 'recXrd 3');
    await put('traces.jsonl', broken);
    const opened = await journal();
    expect(opened.openingDamage()).toEqual([]);
    expect(await seqsOf(opened)).toEqual([1, 2, 4, 5]);
    expect(await damageOf(opened)).toEqual([
      {
        kind: 'damage',
        reason: 'checksum',
        place: 'traces.jsonl',
        cursor: { segment: 1, offset: whole.indexOf(lines[2]!) },
        bytes: lines[2]!.length,
      },
    ]);
    expect((await opened.append([{ n: 6 }])).seq).toBe(6);
    expect((await text('traces.jsonl')).startsWith(broken)).toBe(true);
  });

  it('of the last line takes its number with it: the next record gets a new one', async () => {
    const { put, journal, whole } = await withRecords(3);
    await put('traces.jsonl', whole.replace('record 3', 'recXrd 3'));
    const opened = await journal();
    expect((await opened.append([{ n: 4 }])).seq).toBe(4);
    expect(await seqsOf(opened)).toEqual([1, 2, 4]);
  });

  it('that joined two records loses neither', async () => {
    const { put, journal, whole, lines } = await withRecords(4);
    await put('traces.jsonl', whole.replace(`${lines[1]}\n`, lines[1]!));
    const opened = await journal();
    expect(await seqsOf(opened)).toEqual([1, 2, 3, 4]);
    expect(await damageOf(opened)).toEqual([]);
  });

  it('that glued a torn record to a whole one loses only the torn one', async () => {
    const { put, journal, whole, lines } = await withRecords(4);
    await put('traces.jsonl', whole.replace(`${lines[1]}\n`, lines[1]!.slice(0, 8)));
    const opened = await journal();
    expect(await seqsOf(opened)).toEqual([1, 3, 4]);
    expect(await damageOf(opened)).toMatchObject([{ reason: 'checksum', bytes: 8 }]);
  });

  it('is told as a gap when whole lines are gone, and as repeated when lines are there twice', async () => {
    const { put, journal, lines } = await withRecords(5);
    await put('traces.jsonl', `${[lines[0], lines[3], lines[3], lines[1], lines[4]].join('\n')}\n`);
    const opened = await journal();
    expect(
      (await entriesOf(opened)).map((entry) => (entry.kind === 'record' ? entry.seq : entry.reason)),
    ).toEqual([1, 'sequence-gap', 4, 'sequence-repeated', 'sequence-repeated', 5]);
  });

  it('is met backward too', async () => {
    const { put, journal, whole } = await withRecords(4);
    await put('traces.jsonl', whole.replace('record 2', 'recXrd 2'));
    const opened = await journal();
    const seen = [];
    for await (const entry of opened.readBackward()) {
      seen.push(entry.kind === 'record' ? entry.seq : entry.reason);
    }
    expect(seen).toEqual([4, 3, 'checksum', 1]);
  });
});

describe('lines of other tools', () => {
  it('are read as unverified and counted', async () => {
    const { put, journal } = await fileFixture();
    await put('traces.jsonl', '{"a":1}\n{"b":2}\n');
    const opened = await journal();
    expect(await entriesOf(opened)).toMatchObject([
      { seq: 1, record: { a: 1 }, crc: null },
      { seq: 2, record: { b: 2 }, crc: null },
    ]);
    expect(await opened.head()).toMatchObject({ seq: 2, cursor: { offset: 8 }, crc: null });
    expect((await opened.append([{ c: 3 }])).seq).toBe(3);
    expect(await seqsOf(opened)).toEqual([1, 2, 3]);
  });

  it('may stand between our own', async () => {
    const { put, journal, whole, lines } = await withRecords(2);
    await put('traces.jsonl', `${whole}{"foreign":true}\n`);
    const opened = await journal();
    expect((await opened.append([{ n: 4 }])).seq).toBe(4);
    expect(await seqsOf(opened)).toEqual([1, 2, 3, 4]);
    const backward = [];
    for await (const entry of opened.readBackward()) backward.push(entry.kind === 'record' && entry.seq);
    expect(backward).toEqual([4, 3, 2, 1]);
    expect(lines).toHaveLength(2);
  });

  it('keep their numbers when reading starts at a cursor among them', async () => {
    const { put, journal } = await fileFixture();
    await put('traces.jsonl', '{"a":1}\n{"b":2}\n{"c":3}\n');
    const opened = await journal();
    await opened.append([{ d: 4 }]);
    const all = await entriesOf(opened);
    for (const [index, { cursor }] of all.entries()) {
      const from = [];
      for await (const entry of opened.read({ cursor })) from.push(entry);
      expect(from).toEqual(all.slice(index));
    }
  });

  it('may start with a byte order mark and end with CR LF', async () => {
    const { put, text, journal } = await fileFixture();
    const content = '\ufeff{"a":"1"}\r\n\r\n{"b":2}\r\n';
    await put('traces.jsonl', content);
    const opened = await journal();
    expect(await recordsOf(opened)).toEqual([{ a: '1' }, { b: 2 }]);
    expect(await damageOf(opened)).toEqual([]);
    expect((await opened.append([{ c: 3 }])).seq).toBe(3);
    expect(await recordsOf(opened)).toEqual([{ a: '1' }, { b: 2 }, { c: 3 }]);
    expect((await text('traces.jsonl')).startsWith(Buffer.from(content).toString('latin1'))).toBe(true);
  });

  it('with CR LF around our own checksums, as an editor leaves them, stay good', async () => {
    const { put, journal, whole } = await withRecords(3);
    await put('traces.jsonl', whole.replaceAll('\n', '\r\n'));
    const opened = await journal();
    expect(await seqsOf(opened)).toEqual([1, 2, 3]);
    expect(await damageOf(opened)).toEqual([]);
    expect((await entriesOf(opened)).every((entry) => entry.kind === 'record' && entry.crc !== null)).toBe(
      true,
    );
  });

  it('may have blank lines between them', async () => {
    const { put, journal } = await fileFixture();
    await put('traces.jsonl', '\n\n{"a":1}\n   \n\t\n{"b":2}\n\n');
    const opened = await journal();
    expect(await seqsOf(opened)).toEqual([1, 2]);
    expect(await damageOf(opened)).toEqual([]);
  });
});

describe('opening', () => {
  it('changes nothing on a clean folder before the first append', async () => {
    const { text, names, journal, whole } = await withRecords(2);
    const opened = await journal();
    await entriesOf(opened);
    await opened.close();
    expect(await text('traces.jsonl')).toBe(whole);
    expect(await names()).toEqual(['traces.jsonl']);
  });

  it('makes no file before the first append', async () => {
    const { names, journal } = await fileFixture();
    const opened = await journal();
    expect(await names()).toEqual([]);
    await opened.append([{ n: 1 }]);
    expect(await names()).toEqual(['traces.jsonl']);
  });

  it('accepts an empty file', async () => {
    const { put, journal } = await fileFixture();
    await put('traces.jsonl', '');
    const opened = await journal();
    expect((await opened.append([{ n: 1 }])).seq).toBe(1);
    expect(await seqsOf(opened)).toEqual([1]);
  });

  it('looks at the end only: the cost does not grow with what lies before', async () => {
    const { put, storage, lines } = await withRecords(1);
    const line = `${lines[0]}\n`;
    await put('traces.jsonl', line.repeat(Math.ceil(30_000_000 / line.length)));
    const start = performance.now();
    const opened = await storage().openJournal(['traces']);
    expect(performance.now() - start).toBeLessThan(500);
    expect((await opened.head()).seq).toBe(1);
  });
});
