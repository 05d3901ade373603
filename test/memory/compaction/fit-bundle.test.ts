import { describe, expect, it } from 'vitest';
import { fitBundle, shortenSummary } from '../../../src/memory/compaction/fit-bundle.js';

const item = (id: number, summary: string) => ({ id: `ep_${id}`, ts: id, turnIds: [], summary, salience: 0 });
const names = (count: number, stem: string) =>
  Array.from({ length: count }, (_, index) => `src/${stem}/file-${index}.ts`);
const summaryOf = (id: number) =>
  [
    `User: do the work ${id} | Tools: edit | Assistant: done ${id}`,
    `Commands: make; make test ${id} -> ok`,
    `Names: ${names(60, `part-${id}`).join('; ')}`,
  ].join('\n');

describe('memory items within a number of characters', () => {
  it('stay as they are where they fit', () => {
    const bundle = { episodic: [item(1, 'one'), item(2, 'two')], semantic: [] };
    expect(fitBundle(bundle, 6)).toStrictEqual(bundle);
  });

  it('are each represented, newer ones with more', () => {
    const episodic = [1, 2, 3, 4].map((id) => item(id, summaryOf(id)));
    const fitted = fitBundle({ episodic, semantic: [] }, 3_000).episodic;
    expect(fitted.map(({ id }) => id)).toStrictEqual(['ep_1', 'ep_2', 'ep_3', 'ep_4']);
    const lengths = fitted.map(({ summary }) => summary.length);
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(3_000);
    expect(lengths.at(-1)).toBeGreaterThan(lengths[0]!);
    for (const [index, { summary }] of fitted.entries())
      expect(summary).toContain(`do the work ${index + 1}`);
  });

  it('keep the newest summary, whatever its length', () => {
    const { episodic } = fitBundle(
      { episodic: [item(1, summaryOf(1)), item(2, 'x'.repeat(500))], semantic: [] },
      90,
    );
    expect(episodic.at(-1)!.id).toBe('ep_2');
    expect(episodic.reduce((sum, { summary }) => sum + summary.length, 0)).toBeLessThanOrEqual(90);
  });
});

describe('a shortened summary', () => {
  it('has whole names, the last of them, and counts what is left out', () => {
    const short = shortenSummary(summaryOf(7), 600);
    const line = short.split('\n').find((one) => one.startsWith('Names: '))!;
    const [, list, left] = /^Names: (.*) \((\d+) more left out\)$/.exec(line)!;
    const kept = list!.split('; ');
    expect(kept).toStrictEqual(names(60, 'part-7').slice(-kept.length));
    expect(kept.length + Number(left)).toBe(60);
    expect(/\((\d+) more left out\)$/.exec(shortenSummary(short, 300))![1]).not.toBe(left);
  });

  it('has commands whole or not at all', () => {
    for (const chars of [120, 200, 300, 500, 900]) {
      const short = shortenSummary(summaryOf(7), chars);
      if (short.includes('make')) expect(short).toContain('Commands: make; make test 7 -> ok');
    }
  });
});
