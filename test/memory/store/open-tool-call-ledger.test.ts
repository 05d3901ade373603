import { describe, expect, it } from 'vitest';
import { openToolCallLedger } from '../../../src/memory/store/open-tool-call-ledger.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { PLACES } from '../memory-kit.js';

describe.each(PLACES)('a ledger by itself, over $name', ({ make }) => {
  it('gives the recorded result in the next process, without running', async () => {
    const place = await make();
    const ledger = await openToolCallLedger(place.storage());
    expect(await ledger.run('pay-7', { toolName: 'pay' }, async () => ({ paid: 7 }))).toEqual({ paid: 7 });
    await ledger.close();
    const next = await openToolCallLedger(place.storage());
    expect(next.verdictOn('pay-7')).toBe('finished');
    expect(await next.run('pay-7', {}, () => expect.unreachable())).toEqual({ paid: 7 });
    await next.close();
  });

  it('does not run again what was started and whose end is unknown, unless it is idempotent', async () => {
    const place = await make();
    const ledger = await openToolCallLedger(place.storage());
    void ledger.run('pay-7', {}, () => new Promise(() => {})).catch(() => {});
    while (ledger.verdictOn('pay-7') !== 'outcome_unknown') await new Promise(setImmediate);
    await ledger.close({ graceMs: 0 });
    const next = await openToolCallLedger(place.storage());
    const run = next.run('pay-7', {}, () => expect.unreachable());
    await expect(run).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN', details: { callId: 'pay-7' } });
    expect(await next.run('pay-7', { idempotent: true }, async () => 'again')).toBe('again');
    await next.close();
  });
});

describe('a ledger by itself', () => {
  it('runs calls with one id at the same time once', async () => {
    const ledger = await openToolCallLedger(new MemoryStorage());
    let runs = 0;
    const tool = async () => ++runs;
    expect(await Promise.all([1, 2, 3].map(() => ledger.run('a', {}, tool)))).toEqual([1, 1, 1]);
  });

  it('tells what the tool threw, and tells it again without running', async () => {
    const ledger = await openToolCallLedger(new MemoryStorage());
    const failing = ledger.run('a', {}, async () => {
      throw new TypeError('declined');
    });
    await expect(failing).rejects.toMatchObject({ code: 'TOOL_FAILED', message: 'declined' });
    const again = ledger.run('a', {}, () => expect.unreachable());
    await expect(again).rejects.toMatchObject({ code: 'TOOL_FAILED', message: 'declined' });
  });

  it('is one process’s: a second one meets LEASE_HELD', async () => {
    const storage = new MemoryStorage();
    await openToolCallLedger(storage);
    await expect(openToolCallLedger(storage)).rejects.toMatchObject({ code: 'LEASE_HELD' });
  });

  it('lets calls that run end before it closes', async () => {
    const storage = new MemoryStorage();
    const ledger = await openToolCallLedger(storage);
    const running = ledger.run(
      'a',
      {},
      () => new Promise((resolve) => setTimeout(() => resolve('done'), 30)),
    );
    await ledger.close();
    expect(await running).toBe('done');
    expect((await openToolCallLedger(storage)).verdictOn('a')).toBe('finished');
  });

  it('refuses an empty id', async () => {
    const ledger = await openToolCallLedger(new MemoryStorage());
    await expect(ledger.run('', {}, async () => 1)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});
