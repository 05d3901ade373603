/** Long runs for the hooks that fit requests: results of tools from 1 to 200 KB, and a count of what a model gets. */
import { type CountTokens, loadTokenizer } from '../../src/core/text-tokens.js';

export const BUDGET = 16_000;
export const CALLS = 300;
export const REQUEST = 'Read all files of the report, and name the one with the largest total.';

/** The text that the tool returns for this file. */
export function fileText(index: number): string {
  const kilobytes = index % 30 === 7 ? 200 : index % 10 === 3 ? 40 : 1 + (index % 4);
  const line = `file-${index}.csv total ${index * 37} units, checked by station ${index % 9}\n`;
  return line.repeat(Math.ceil((kilobytes * 1_024) / line.length));
}

export async function tokenCounter(): Promise<CountTokens> {
  return loadTokenizer();
}

/** Items that differ, by position: how far a request is the beginning of the next one. */
export function commonStart(before: readonly unknown[], after: readonly unknown[]): number {
  const differs = before.findIndex((item, at) => JSON.stringify(item) !== JSON.stringify(after[at]));
  return differs < 0 ? before.length : differs;
}
