import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../src/core/clock.js';
import { RequestFailure } from '../../../src/storage/objects/request-failure.js';
import { RetryPolicy, type RetryPolicyOptions } from '../../../src/storage/objects/retry-policy.js';
import { errorOf } from './network-contract.js';

const REQUEST = { operation: 'put', name: 'a/b' };

/** A policy whose waits cost no time, and what they were. */
function policyWith(options: RetryPolicyOptions = {}) {
  const clock = new ManualClock(Date.parse('2026-01-01T00:00:00Z'));
  const waits: number[] = [];
  const sleep = async (ms: number) => {
    waits.push(ms);
    clock.advance(ms);
  };
  const policy = new RetryPolicy({ clock, sleep, random: () => 1, ...options });
  return { policy, waits, clock };
}

function failing(failure: () => unknown, times = Number.POSITIVE_INFINITY) {
  let calls = 0;
  const work = async () => {
    if (++calls <= times) throw failure();
    return 'done';
  };
  return { work, calls: () => calls };
}

const answered = (status: number, retryAfter?: string) => () =>
  new RequestFailure('busy', { status, retryAfter });

describe('RetryPolicy', () => {
  it('waits twice as long before each next try, up to the longest', async () => {
    const { policy, waits } = policyWith({ attempts: 6, firstDelayMs: 100, maxDelayMs: 500 });
    await errorOf(policy.run(REQUEST, failing(answered(503)).work));
    expect(waits).toEqual([100, 200, 400, 500, 500]);
  });

  it('takes up to half of a wait away, by chance', async () => {
    const { policy, waits } = policyWith({ attempts: 3, firstDelayMs: 100, random: () => 0 });
    await errorOf(policy.run(REQUEST, failing(answered(503)).work));
    expect(waits).toEqual([50, 100]);
  });

  it.each([
    ['seconds', '7', 7_000],
    ['a date', 'Thu, 01 Jan 2026 00:00:12 GMT', 12_000],
    ['less than its own wait', '0', 100],
    ['a date that is past', 'Wed, 31 Dec 2025 00:00:00 GMT', 100],
    ['nothing that can be read', 'soon', 100],
  ])('waits as Retry-After says: %s', async (_, retryAfter, expected) => {
    const { policy, waits } = policyWith({ firstDelayMs: 100 });
    expect(await policy.run(REQUEST, failing(answered(429, retryAfter), 1).work)).toBe('done');
    expect(waits).toEqual([expected]);
  });

  it.each([408, 429, 500, 502, 503, 504])('tries again after %i', async (status) => {
    const { work, calls } = failing(answered(status), 2);
    expect(await policyWith().policy.run(REQUEST, work)).toBe('done');
    expect(calls()).toBe(3);
  });

  it.each([301, 400, 401, 403, 404, 409, 412, 413, 501, 507])(
    'never tries again after %i',
    async (status) => {
      const { work, calls } = failing(answered(status));
      await errorOf(policyWith().policy.run(REQUEST, work));
      expect(calls()).toBe(1);
    },
  );

  it('hands on at once what is no failure of a request', async () => {
    const bug = new TypeError('a bug');
    const { work, calls } = failing(() => bug);
    await expect(policyWith().policy.run(REQUEST, work)).rejects.toBe(bug);
    expect(calls()).toBe(1);
  });

  it('begins no try after the deadline', async () => {
    const { policy, clock } = policyWith({
      attempts: 100,
      firstDelayMs: 100,
      maxDelayMs: 100,
      deadlineMs: 350,
    });
    const start = clock.nowMs();
    const { work, calls } = failing(answered(500));
    expect((await errorOf(policy.run(REQUEST, work))).details).toMatchObject({ attempts: 4, status: 500 });
    expect(calls()).toBe(4);
    expect(clock.nowMs() - start).toBe(300);
  });

  it('ends a try that hears nothing, and not one that hears something', async () => {
    const policy = new RetryPolicy({ attempts: 1, timeoutMs: 60 });
    const silent = policy.run(REQUEST, () => new Promise<never>(() => {}));
    expect((await errorOf(silent)).code).toBe('STORAGE_UNAVAILABLE');
    const slow = policy.run(REQUEST, async ({ heard, signal }) => {
      for (let piece = 0; piece < 6; piece += 1) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        heard();
      }
      return signal.aborted;
    });
    expect(await slow).toBe(false);
  });

  it('gives an upload more time', async () => {
    const policy = new RetryPolicy({ attempts: 1, timeoutMs: 20 });
    const work = () => new Promise((resolve) => setTimeout(() => resolve('sent'), 80));
    expect(await policy.run(REQUEST, work, { uploadBytes: 1024 * 1024 })).toBe('sent');
  });

  it('tells quotas as STORAGE_FULL whatever the status', async () => {
    const failure = () => new RequestFailure('no more', { status: 403, serverCode: 'QuotaExceeded' });
    const error = await errorOf(policyWith().policy.run(REQUEST, failing(failure).work));
    expect(error).toMatchObject({ code: 'STORAGE_FULL', details: { status: 403, ...REQUEST } });
  });

  it.each([{ attempts: 0 }, { attempts: 1.5 }, { timeoutMs: -1 }, { deadlineMs: Number.NaN }])(
    'refuses %j with INVALID_ARGUMENT',
    (options) => {
      expect(() => new RetryPolicy(options)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
    },
  );
});
