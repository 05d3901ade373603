import { describe, expect, it } from 'vitest';
import { RekindleError } from '../../../src/core/errors.js';
import type { JsonObject } from '../../../src/core/json.js';
import { type LedgerCall, ToolCallLedger } from '../../../src/memory/store/tool-call-ledger.js';
import { AGENT, PLACES, type Place } from '../memory-kit.js';

const first: LedgerCall = { callId: 'call_0', turnId: 'turn_0001', toolName: 'pay' };
const second: LedgerCall = { ...first, turnId: 'turn_0002' };

async function ledgerAt(place: Place): Promise<ToolCallLedger> {
  const storage = place.storage();
  const lease = await storage.leases.acquire(['agents', AGENT]);
  const journal = storage.openJournal<JsonObject>(['agents', AGENT, 'pending_calls'], { lease });
  return new ToolCallLedger(
    () => journal,
    () => 1_700_000_000_000,
  );
}

/** The ledger as the next process reads it, after a crash. */
async function afterCrash(place: Place, ...calls: LedgerCall[]): Promise<ToolCallLedger> {
  const ledger = await ledgerAt(place);
  await ledger.load(calls);
  return ledger;
}

describe.each(PLACES)('the ledger over $name', ({ make }) => {
  it('has no verdict but not_started for a call that it does not know', async () => {
    const ledger = await ledgerAt(await make());
    expect(ledger.verdictOn(first)).toStrictEqual({
      verdict: 'not_started',
      outcome: null,
      approval: 'none',
      request: null,
      response: null,
      atClient: false,
    });
  });

  it('says after a crash that a call that was started and not finished has an unknown outcome', async () => {
    const place = await make();
    await (await ledgerAt(place)).started(first);
    expect((await afterCrash(place, first)).verdictOn(first).verdict).toBe('outcome_unknown');
  });

  it('gives after a crash the recorded result, or the error, of a call that was finished', async () => {
    const place = await make();
    const ledger = await ledgerAt(place);
    await ledger.started(first);
    await ledger.finished(first, { result: { paid: 5 }, error: null });
    await ledger.started(second);
    await ledger.finished(second, { result: null, error: 'declined' });
    const read = await afterCrash(place, first, second);
    expect(read.verdictOn(first)).toMatchObject({
      verdict: 'finished',
      outcome: { result: { paid: 5 }, error: null },
    });
    expect(read.verdictOn(second)).toMatchObject({
      verdict: 'finished',
      outcome: { result: null, error: 'declined' },
    });
  });

  it('says that a call is finished, without a result, when the traces alone hold it', async () => {
    const place = await make();
    const ledger = await ledgerAt(place);
    await ledger.started(first);
    await ledger.finished(first, null);
    expect((await afterCrash(place, first)).verdictOn(first)).toMatchObject({
      verdict: 'finished',
      outcome: null,
    });
  });

  it('keeps calls of other turns apart when an id is used again', async () => {
    const place = await make();
    const ledger = await ledgerAt(place);
    await ledger.started(first);
    await ledger.finished(first, { result: 1, error: null });
    expect((await afterCrash(place, second)).verdictOn(second).verdict).toBe('not_started');
  });

  it('remembers that a call waited for approval, and what was decided', async () => {
    const place = await make();
    const ledger = await ledgerAt(place);
    await ledger.approvalRequested(first);
    expect((await afterCrash(place, first)).verdictOn(first).approval).toBe('pending');
    const next = await afterCrash(place, first);
    await next.approvalDecided(first, true);
    await next.approvalRequested(second);
    await next.approvalDecided(second, false);
    const read = await afterCrash(place, first, second);
    expect(read.verdictOn(first)).toMatchObject({ verdict: 'not_started', approval: 'approved' });
    expect(read.verdictOn(second)).toMatchObject({ verdict: 'not_started', approval: 'denied' });
  });

  it('writes nothing, and opens nothing, when there is no call to look for', async () => {
    let opened = 0;
    const ledger = new ToolCallLedger(
      () => {
        opened += 1;
        return Promise.reject(new Error('not needed'));
      },
      () => 0,
    );
    await ledger.load([]);
    expect(opened).toBe(0);
  });

  it('forgets what is archived', async () => {
    const place = await make();
    const ledger = await ledgerAt(place);
    await ledger.started(first);
    await ledger.finished(first, { result: 1, error: null });
    await ledger.archive();
    const read = await ledgerAt(place);
    await read.loadAll();
    expect(read.verdictOn(first).verdict).toBe('not_started');
    await read.started(second);
    const all = await ledgerAt(place);
    await all.loadAll();
    expect(all.verdictOn(second).verdict).toBe('outcome_unknown');
  });
});

describe.each(PLACES)('a call that the ledger over $name runs', ({ make }) => {
  it('runs, is recorded as started before and as finished after, and gives its result as JSON', async () => {
    const place = await make();
    const ledger = await ledgerAt(place);
    let verdict = '';
    const outcome = await ledger.run(first, {}, async () => {
      verdict = ledger.verdictOn(first).verdict;
      return { at: new Date(0) };
    });
    expect(verdict).toBe('outcome_unknown');
    expect(outcome).toStrictEqual({ result: { at: '1970-01-01T00:00:00.000Z' }, error: null });
    expect((await afterCrash(place, first)).verdictOn(first)).toMatchObject({ verdict: 'finished', outcome });
  });

  it('does not run again once it is finished, also after a crash', async () => {
    const place = await make();
    let runs = 0;
    const tool = async () => {
      runs += 1;
      return runs;
    };
    const ledger = await ledgerAt(place);
    expect(await ledger.run(first, {}, tool)).toStrictEqual({ result: 1, error: null });
    expect(await ledger.run(first, {}, tool)).toStrictEqual({ result: 1, error: null });
    expect(await (await afterCrash(place, first)).run(first, {}, tool)).toStrictEqual({
      result: 1,
      error: null,
    });
    expect(runs).toBe(1);
  });

  it('runs once for all who ask at the same time', async () => {
    const ledger = await ledgerAt(await make());
    let runs = 0;
    const tool = async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      runs += 1;
      return runs;
    };
    const outcomes = await Promise.all([1, 2, 3].map(() => ledger.run(first, {}, tool)));
    expect(outcomes).toStrictEqual([1, 2, 3].map(() => ({ result: 1, error: null })));
  });

  it('is refused with OUTCOME_UNKNOWN when its end was not recorded', async () => {
    const place = await make();
    await (await ledgerAt(place)).started(first);
    let ran = false;
    const run = (await afterCrash(place, first)).run(first, {}, async () => {
      ran = true;
    });
    await expect(run).rejects.toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      details: { callId: 'call_0', finished: false },
    });
    expect(ran).toBe(false);
  });

  it('runs again when its end was not recorded and it says that it may', async () => {
    const place = await make();
    await (await ledgerAt(place)).started(first);
    const ledger = await afterCrash(place, first);
    expect(await ledger.run(first, { idempotent: true }, async () => 'again')).toStrictEqual({
      result: 'again',
      error: null,
    });
  });

  it('runs a failed call again when it is idempotent, also in the next process, and no other', async () => {
    const place = await make();
    const fail = () => Promise.reject(new TypeError('no network'));
    const failed = { result: null, error: 'no network' };
    expect(await (await ledgerAt(place)).run(first, { idempotent: true }, fail)).toStrictEqual(failed);
    const ledger = await afterCrash(place, first);
    expect(await ledger.run(first, {}, async () => 'never')).toStrictEqual(failed);
    const done = { result: 'done', error: null };
    expect(await ledger.run(first, { idempotent: true }, async () => 'done')).toStrictEqual(done);
    expect(await ledger.run(first, { idempotent: true }, async () => 'twice')).toStrictEqual(done);
    await (await afterCrash(place, second)).run(second, { idempotent: true }, fail);
    await (await afterCrash(place, second)).started(second, { idempotent: true });
    expect((await afterCrash(place, second)).verdictOn(second)).toMatchObject({ verdict: 'outcome_unknown' });
  });

  it('gives what it throws as the error of its outcome, never blank and always well-formed', async () => {
    const ledger = await ledgerAt(await make());
    const failing = (thrown: unknown, turnId: string) =>
      ledger.run({ ...first, turnId }, {}, async () => {
        throw thrown;
      });
    expect(await failing(new Error('boom'), 't1')).toStrictEqual({ result: null, error: 'boom' });
    expect(await failing(new Error(' '), 't2')).toStrictEqual({
      result: null,
      error: 'The tool failed without a message.',
    });
    expect(await failing('x\ud800', 't3')).toStrictEqual({ result: null, error: 'x\ufffd' });
  });

  it('passes on the loss of the lease, so that its end is not recorded', async () => {
    const place = await make();
    const ledger = await ledgerAt(place);
    const lost = new RekindleError('LEASE_LOST', 'gone');
    const run = ledger.run(first, {}, async () => {
      throw lost;
    });
    await expect(run).rejects.toBe(lost);
    expect((await afterCrash(place, first)).verdictOn(first).verdict).toBe('outcome_unknown');
  });
});
