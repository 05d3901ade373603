import { describe, expect, it } from 'vitest';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { ToolCallLog } from '../../../src/workspace/tool-calls/tool-call-log.js';
import { SHOPS, type Shop } from '../workspace-kit.js';

const DAY = 86_400_000;
const LARGE = 5_000;

/** A log with some calls on each of the days before now, oldest first. */
async function logWith(shop: Shop, callsByDay: readonly number[], large: (day: number) => string = () => '') {
  const log = new ToolCallLog(shop.backend, { clock: shop.clock });
  for (const [index, count] of callsByDay.entries()) {
    const day = callsByDay.length - 1 - index;
    const calls = Array.from({ length: count }, (_, n) =>
      call(shop, `${day} days ago, ${n}`, day, large(day)),
    );
    await Promise.all(calls.map((entry) => log.record(entry)));
  }
  return log;
}

function call(shop: Shop, callId: string, daysAgo = 0, output = '') {
  const startedMs = shop.clock.nowMs() - daysAgo * DAY;
  return { callId, tool: 't', agent: 'a', input: null, output, error: null, startedMs, durationMs: 0 };
}

describe.each(SHOPS)('prune over $name', ({ make }) => {
  it('keeps the days that it is told, today among them', async () => {
    const log = await logWith(await make(), [1, 2, 3, 4]);
    expect(await log.prune({ daysMax: 2 })).toEqual({
      callsRemoved: 3,
      callsKept: 7,
      chunks: ['2023-11-11', '2023-11-12'],
      valuesRemoved: 0,
      bytesRemoved: 0,
    });
    expect(await log.search({ limit: 99 })).toHaveLength(7);
    expect(await log.prune({ daysMax: 2 })).toMatchObject({ callsRemoved: 0, chunks: [] });
    await log.close();
  });

  it('keeps at least as many calls as it is told, in whole chunks', async () => {
    const log = await logWith(await make(), [1, 2, 3]);
    expect(await log.prune({ callsMax: 4 })).toMatchObject({ callsRemoved: 1, callsKept: 5 });
    expect(await log.prune({ callsMax: 3 })).toMatchObject({ callsRemoved: 2, callsKept: 3 });
    expect(await log.prune({ callsMax: 1 })).toMatchObject({ callsRemoved: 0, callsKept: 3 });
    await log.close();
  });

  it('removes nothing without bounds, and nothing from an empty log', async () => {
    const shop = await make();
    const log = await logWith(shop, [1, 1]);
    expect(await log.prune({})).toMatchObject({ callsRemoved: 0, callsKept: 2 });
    const all = { callsMax: Number.POSITIVE_INFINITY, daysMax: Number.POSITIVE_INFINITY };
    expect(await log.prune(all)).toMatchObject({ callsRemoved: 0, callsKept: 2 });
    expect(await new ToolCallLog(shop.backend, { folder: ['other'] }).prune({ callsMax: 0 })).toMatchObject({
      callsRemoved: 0,
      callsKept: 0,
    });
    await log.close();
  });

  it('removes everything when it is told, and the log goes on', async () => {
    const shop = await make();
    const log = await logWith(shop, [1, 1], (day) => `${day}`.repeat(LARGE));
    expect(await log.prune({ callsMax: 0 })).toMatchObject({
      callsRemoved: 2,
      callsKept: 0,
      valuesRemoved: 2,
    });
    expect(await log.recent()).toEqual([]);
    await log.record(call(shop, 'new', 0, '0'.repeat(LARGE)));
    const [found] = await log.recent();
    expect(found).toMatchObject({ callId: 'new', output: null });
    expect(await log.value(found!.outputRef!)).toHaveLength(LARGE + 2);
    await log.close();
  });

  it.each([
    { daysMax: Number.NaN },
    { callsMax: Number.NaN },
    { daysMax: -1 },
    { callsMax: -1 },
    { daysMax: 0.5 },
  ])('refuses the bound %j, and removes nothing', async (bounds) => {
    const log = await logWith(await make(), [1]);
    await expect(log.prune(bounds)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await log.recent()).toHaveLength(1);
    await log.close();
  });

  it('removes values that only removed calls name, and tells their bytes', async () => {
    const log = await logWith(await make(), [2, 1, 1], (day) => (day === 1 ? 'y' : 'x').repeat(LARGE));
    expect(await log.prune({ daysMax: 1 })).toMatchObject({ valuesRemoved: 1, bytesRemoved: LARGE + 2 });
    const [kept] = await log.recent();
    expect(await log.value(kept!.outputRef!)).toBe(`"${'x'.repeat(LARGE)}"`);
    await log.close();
  });

  it('never removes a value of a call that another log is about to name', async () => {
    const shop = await make();
    const other = new ToolCallLog(shop.root === '' ? shop.backend : new FileStorage(shop.root));
    const text = 'x'.repeat(LARGE);
    for (let round = 0; round < 3; round += 1) {
      const log = await logWith(shop, [1, 0], () => text);
      await Promise.all([other.record(call(shop, `new ${round}`, 0, text)), log.prune({ daysMax: 1 })]);
      await log.close();
    }
    for (const { outputRef } of await other.recent()) expect(await other.value(outputRef!)).toContain(text);
    expect(await other.recent(99)).toHaveLength(3);
    await other.close();
  });

  it('disturbs no search', async () => {
    const shop = await make();
    const log = await logWith(shop, [3, 3, 3], (day) => `${day}`.repeat(LARGE));
    const reader = new ToolCallLog(shop.root === '' ? shop.backend : new FileStorage(shop.root));
    let done = false;
    const searching = (async () => {
      while (!done) {
        const found = await reader.search({ text: 'nowhere', limit: 99 });
        expect(found).toEqual([]);
      }
    })();
    for (let round = 0; round < 8; round += 1) {
      await log.prune({ callsMax: 0 });
      await log.record(call(shop, 'again', round % 3, 'z'.repeat(LARGE)));
    }
    done = true;
    await searching;
    await log.close();
  });
});

describe('prune', () => {
  it('bounds a day with many calls', async () => {
    const log = await logWith(await SHOPS[1]!.make(), [2_100]);
    expect(await log.prune({ callsMax: 1_100 })).toMatchObject({
      callsRemoved: 1_000,
      callsKept: 1_100,
      chunks: ['2023-11-14'],
    });
    expect((await log.search({ limit: 9_999 })).length).toBe(1_100);
    await log.close();
  });
});
