/** What came of the mutations, by kind. */
import type { Attempt } from './campaign.js';

const COLUMNS = ['detected', 'harmless', 'only with heads', 'metadata of a plain session'] as const;
/** Violations that are shown of each kind. */
const FIRSTS = 3;
const TEXT_MAX = 500;

export class Tally {
  readonly #rows = new Map<string, { tried: number; violated: number; outcomes: Map<string, number> }>();
  readonly violations: string[] = [];
  /** Of each kind. */
  readonly #firsts: string[] = [];

  add({ kind, outcome, violations }: Attempt): void {
    const row = this.#rows.get(kind) ?? { tried: 0, violated: 0, outcomes: new Map<string, number>() };
    this.#rows.set(kind, row);
    row.tried += 1;
    row.outcomes.set(outcome, (row.outcomes.get(outcome) ?? 0) + 1);
    if (violations.length > 0 && (row.violated += 1) <= FIRSTS) this.#firsts.push(...violations);
    this.violations.push(...violations);
  }

  get tried(): number {
    return [...this.#rows.values()].reduce((sum, { tried }) => sum + tried, 0);
  }

  get table(): string {
    const lines = [['kind', 'tried', ...COLUMNS, 'violated']];
    for (const [kind, { tried, violated, outcomes }] of [...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1)))
      lines.push([kind, ...[tried, ...COLUMNS.map((name) => outcomes.get(name) ?? 0), violated].map(String)]);
    const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
    return lines
      .map((line) =>
        line.map((text, at) => (at === 0 ? text.padEnd(widths[at]!) : text.padStart(widths[at]!))).join('  '),
      )
      .join('\n');
  }

  /** The first of each kind, and how many there are. */
  get shown(): string[] {
    const shown = this.#firsts.map((text) => text.slice(0, TEXT_MAX));
    const more = this.violations.length - shown.length;
    return more > 0 ? [...shown, `and ${more} more`] : shown;
  }
}
