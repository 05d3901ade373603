/** Lines that no text can hold: told with their place, passed over, and repaired. Their bytes are never held. */
import fs from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { LINE_BYTES_MAX } from '../../../src/storage/file/line-blocks.js';
import { damageOf, fileFixture, recordsOf, seqsOf } from './file-fixture.js';

const HUGE = 600 * 1024 * 1024;
const LONG = LINE_BYTES_MAX + 1024 * 1024;
const SECONDS = 1000;

/** A line with a hole in it, which takes no room on the disk. Gives its start. */
async function appendLine(file: string, bytes: number, end: '\n' | ''): Promise<number> {
  const { size } = await fs.stat(file);
  await fs.appendFile(file, '{"text":"');
  await fs.truncate(file, size + bytes - 2);
  await fs.appendFile(file, `"}${end}`);
  return size;
}

async function withLine(bytes: number, end: '\n' | '' = '\n') {
  const fixture = await fileFixture();
  const writer = await fixture.journal();
  await writer.append([{ n: 1 }, { n: 2 }]);
  await writer.append([{ n: 3 }]);
  await writer.close();
  const file = fixture.file('traces.jsonl');
  const start = await appendLine(file, bytes, end);
  return { ...fixture, target: file, start };
}

describe('a line of 600 MB', () => {
  it(
    'is told with its place and its length, forward and backward, and every record is read',
    async () => {
      const { reader, target, start } = await withLine(HUGE);
      await fs.appendFile(target, '{"n":4}\n');
      const opened = await reader();
      const before = process.memoryUsage().arrayBuffers;
      const long = { reason: 'too-long', place: 'traces.jsonl', cursor: { offset: start }, bytes: HUGE + 1 };
      expect(await damageOf(opened)).toMatchObject([long]);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 * LINE_BYTES_MAX);
      expect((await recordsOf(opened)).map(({ n }) => n)).toStrictEqual([1, 2, 3, 4]);
      const backward: unknown[] = [];
      for await (const entry of opened.readBackward())
        backward.push(entry.kind === 'record' ? entry.record['n'] : entry.reason);
      expect(backward).toStrictEqual([4, 'too-long', 3, 2, 1]);
      await opened.close();
    },
    120 * SECONDS,
  );
});

describe('a line of more than 128 MB', () => {
  it(
    'without an end is set aside as torn, and the journal goes on behind the last record',
    async () => {
      const { journal, names, target, start } = await withLine(LONG, '');
      const opened = await journal();
      expect((await opened.append([{ n: 4 }])).seq).toBe(4);
      expect(await seqsOf(opened)).toStrictEqual([1, 2, 3, 4]);
      expect((await fs.stat(target)).size).toBeLessThan(1000);
      const torn = (await names()).find((name) => name.startsWith(`traces.torn-${start}-`));
      expect(torn).toBeDefined();
    },
    120 * SECONDS,
  );

  it(
    'gives way to a mark by a repair, which keeps the file; then nothing is damaged',
    async () => {
      const { journal, names, reader } = await withLine(LONG);
      const opened = await journal();
      await opened.append([{ n: 5 }]);
      const [done] = await opened.repair();
      expect(done).toMatchObject({ ranges: 1 });
      expect(await names()).toContain(done?.kept);
      await opened.close();
      const again = await reader();
      expect((await damageOf(again)).filter(({ reason }) => reason !== 'sequence-gap')).toStrictEqual([]);
      expect((await recordsOf(again)).map(({ n }) => n)).toStrictEqual([1, 2, 3, 5]);
    },
    120 * SECONDS,
  );
});

it('a record of 60 MB is read in a time that grows with its length', async () => {
  const { reader, put } = await fileFixture();
  await put('traces.jsonl', `${JSON.stringify({ text: 'x'.repeat(60 * 1024 * 1024) })}\n{"n":2}\n`);
  const start = performance.now();
  expect((await recordsOf(await reader())).length).toBe(2);
  expect(performance.now() - start).toBeLessThan(20 * SECONDS);
});
