/** `docs/seeds.md` names only files that exist, and its counts are those of its rows. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.join(import.meta.dirname, '..');
const PAGE = readFileSync(path.join(ROOT, 'docs/seeds.md'), 'utf8');
const STATES = ['works', 'differs', 'missing'] as const;

interface Row {
  readonly seed: string;
  readonly cells: readonly string[];
}

const [summary = '', ...sections] = PAGE.split(/^## /m);
const rows: readonly Row[] = sections.flatMap((section) => {
  const seed = section.slice(0, 3);
  return cellsOf(section).map((cells) => ({ seed, cells }));
});

/** The rows of the only table of a text, without its head. A cell may hold an escaped bar. */
function cellsOf(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const pathsIn = (cell: string | undefined) =>
  [...(cell ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

describe('the page of the seeds', () => {
  it('gives every requirement one of three states, and a file and a test to each that works', () => {
    expect(rows.length).toBeGreaterThan(250);
    for (const { cells } of rows) {
      const [requirement, state, where, test] = cells;
      expect(cells, requirement).toHaveLength(4);
      expect(STATES, requirement).toContain(state);
      if (state === 'works')
        expect(
          [pathsIn(where), pathsIn(test)].every((list) => list.length > 0),
          requirement,
        ).toBe(true);
      if (state === 'missing') expect(requirement).toMatch(/: \S/);
    }
  });

  it('names only files that exist', () => {
    const named = new Set(rows.flatMap(({ cells }) => [...pathsIn(cells[2]), ...pathsIn(cells[3])]));
    expect(named.size).toBeGreaterThan(100);
    expect([...named].filter((name) => !existsSync(path.join(ROOT, name)))).toEqual([]);
  });

  it('counts the rows of each state rightly', () => {
    const counts = (list: readonly Row[]) =>
      STATES.map((state) => String(list.filter(({ cells }) => cells[1] === state).length));
    for (const [seed, ...given] of cellsOf(summary))
      expect(given, seed).toEqual(counts(seed === 'all' ? rows : rows.filter((row) => row.seed === seed)));
  });
});
