/** Pages of older changes, over a state that stands still, or fails. */
import { expect, it } from 'vitest';
import { RekindleError } from '../../src/core/errors.js';
import { StoredPages } from '../../src/server/websocket/stored-pages.js';
import type { SharedState } from '../../src/state/shared/shared-state.js';
import type { StateChange } from '../../src/state/shared/shared-table.js';

const change = (globalVersion: number, value = 'x'): StateChange => ({
  globalVersion,
  lastOfCommit: globalVersion,
  history: 'h',
  key: 'k',
  version: globalVersion,
  op: 'set',
  value,
  bytes: value.length + 2,
  at: '2026-03-01T10:00:00.000Z',
  by: 'a',
});

/** Counts how often it is read from somewhere. */
function stateOf(changes: readonly StateChange[], fails = false) {
  const readFrom: number[] = [];
  const state = {
    root: 'root',
    async *changesAfter(version: number): AsyncGenerator<StateChange> {
      readFrom.push(version);
      if (fails) throw new RekindleError('HISTORY_GONE', 'gone');
      yield* changes.filter(({ globalVersion }) => globalVersion > version);
    },
  };
  return { pages: new StoredPages(state as unknown as SharedState), readFrom };
}

it('say that the history is gone to everyone who asks, not only to the first', async () => {
  const { pages } = stateOf([], true);
  for (let tries = 0; tries < 4; tries += 1)
    await expect(pages.after(0)).rejects.toMatchObject({ code: 'HISTORY_GONE' });
});

it('are read once for all who ask for the same, and gone on with where they end', async () => {
  const { pages, readFrom } = stateOf(Array.from({ length: 500 }, (_, index) => change(index + 1)));
  const [first, again] = await Promise.all([pages.after(0), pages.after(0)]);
  expect(again).toBe(first);
  const seen = [...first];
  for (let page = first; page.length > 0; ) {
    page = await pages.after(page.at(-1)!.globalVersion);
    seen.push(...page);
  }
  expect(seen.map(({ globalVersion }) => globalVersion)).toEqual(
    Array.from({ length: 500 }, (_, n) => n + 1),
  );
  expect(readFrom).toEqual([0, 500]); // the second finds that there is no more
  await pages.clear();
});

it('end by their length, too', async () => {
  const { pages } = stateOf(Array.from({ length: 10 }, (_, n) => change(n + 1, 'x'.repeat(200_000))));
  expect((await pages.after(0)).length).toBe(3);
  await pages.clear();
});
