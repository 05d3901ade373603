/** What every object store over a network does when the network or the server fails. */
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isRekindleError, type RekindleError } from '../../../src/core/errors.js';
import type { ObjectStorage, RetryOptions } from '../../../src/storage/objects/index.js';
import type { Fault, FaultyHttpProxy } from '../../support/faulty-http-proxy.js';
import { namesOf, patternOf, textOf } from './objects-contract.js';

export interface NetworkOptions {
  readonly retries?: RetryOptions;
  readonly timeoutMs?: number;
  readonly pageSize?: number;
}

export interface NetworkTarget {
  readonly proxy: FaultyHttpProxy;
  /** An empty store behind the proxy, closed after the test. */
  open(options?: NetworkOptions): ObjectStorage;
  /** Never to be told. */
  readonly secrets: readonly string[];
  /** A refusal as the server writes it. */
  refusal(code: string, message: string): string;
}

/** Three quick tries. */
export const QUICK = { retries: { attempts: 3, firstDelayMs: 2 } };
const NAME = ['agents', 'one', 'object'];

const PASSING: readonly [string, Fault][] = [
  ['an answer 408', { kind: 'status', status: 408 }],
  ['an answer 429 with Retry-After', { kind: 'status', status: 429, retryAfter: '0' }],
  ['an answer 500', { kind: 'status', status: 500 }],
  ['an answer 502', { kind: 'status', status: 502 }],
  ['an answer 503', { kind: 'status', status: 503 }],
  ['an answer 504', { kind: 'status', status: 504 }],
  ['a broken connection', { kind: 'reset' }],
  ['a cut in the middle of an answer', { kind: 'half-body' }],
  ['a server that falls silent', { kind: 'hang' }],
];

function quickFor(fault: Fault, attempts = 3): NetworkOptions {
  const retries = { ...QUICK.retries, attempts };
  return fault.kind === 'hang' ? { retries, timeoutMs: 150 } : { retries };
}

export function networkContract(target: () => NetworkTarget): void {
  describe('faults', () => {
    passingTests(target);
    lastingTests(target);
    refusalTests(target);
    secretTests(target);
  });
  describe('pages', () => {
    it('are followed to the last one', async () => {
      const objects = target().open({ pageSize: 3 });
      const names = Array.from({ length: 8 }, (_, n) => ['agents', 'one', `object-${n}`]);
      for (const name of names) await objects.put(name, Buffer.from('x'));
      target().proxy.reset();
      expect(await namesOf(objects, ['agents', 'one'])).toEqual(names.map((name) => name.slice(2)));
      expect(target().proxy.requests).toHaveLength(3);
    });
  });
}

function passingTests(target: () => NetworkTarget): void {
  it.each(PASSING)('%s is got over in every operation', async (_, fault) => {
    const { proxy } = target();
    const objects = target().open(quickFor(fault, 8));
    const bytes = patternOf(50_000);
    await objects.put(['other', 'object'], bytes);
    proxy.reset();
    proxy.fail(fault);
    await objects.put(NAME, bytes);
    proxy.fail(fault);
    expect(Buffer.from((await objects.get(NAME))!).equals(bytes)).toBe(true);
    proxy.fail(fault);
    expect((await objects.stat(NAME))?.size).toBe(bytes.length);
    proxy.fail(fault);
    expect(await namesOf(objects, ['agents'])).toEqual([NAME.slice(1)]);
    proxy.fail(fault, 1, ({ method }) => method === 'DELETE');
    expect(await objects.delete(NAME)).toBe(true);
    expect(await objects.get(NAME)).toBeNull();
  });
}

function lastingTests(target: () => NetworkTarget): void {
  it.each(PASSING)('%s at every try ends as STORAGE_UNAVAILABLE', async (_, fault) => {
    const { proxy } = target();
    const objects = target().open(quickFor(fault));
    await objects.put(NAME, patternOf(50_000));
    proxy.reset();
    proxy.fail(fault, Number.POSITIVE_INFINITY);
    const error = await errorOf(objects.get(NAME));
    const status = fault.kind === 'status' ? { status: fault.status } : {};
    expect(error.code).toBe('STORAGE_UNAVAILABLE');
    expect(error.details).toMatchObject({ operation: 'get', attempts: 3, ...status });
    expect(error.details['name']).toMatch(/agents\/one\/object$/);
    expect(error.cause).toBeInstanceOf(Error);
    expect(proxy.requests).toHaveLength(3);
  });

  it('a server that is silent for ever costs no more than the deadline', async () => {
    const objects = target().open({
      retries: { attempts: 100, firstDelayMs: 1, deadlineMs: 200 },
      timeoutMs: 60_000,
    });
    target().proxy.fail({ kind: 'hang' }, Number.POSITIVE_INFINITY);
    const start = performance.now();
    expect((await errorOf(objects.put(NAME, Buffer.from('a')))).code).toBe('STORAGE_UNAVAILABLE');
    const took = performance.now() - start;
    expect(took).toBeGreaterThan(150);
    expect(took).toBeLessThan(1_500);
  });

  it('a server that wants more time than there is is not waited for', async () => {
    const objects = target().open(QUICK);
    target().proxy.fail({ kind: 'status', status: 503, retryAfter: '86400' });
    const start = performance.now();
    expect((await errorOf(objects.get(NAME))).details).toMatchObject({ attempts: 1, status: 503 });
    expect(performance.now() - start).toBeLessThan(1_000);
  });
}

function refusalTests(target: () => NetworkTarget): void {
  it.each([400, 401, 403, 405, 409, 412])('an answer %i is final: STORAGE_FAILED', async (status) => {
    const { proxy } = target();
    const objects = target().open(QUICK);
    proxy.fail({ kind: 'status', status, body: target().refusal('Refused', 'Because.') }, 3);
    const error = await errorOf(objects.get(NAME));
    expect(error.code).toBe('STORAGE_FAILED');
    expect(error.details).toMatchObject({ operation: 'get', status });
    expect(error.message).toContain('Because.');
    if (status === 401 || status === 403) expect(error.message).toContain('Check the credentials');
    expect(proxy.requests).toHaveLength(1);
  });

  it.each([413, 507])('an answer %i is final: STORAGE_FULL', async (status) => {
    const { proxy } = target();
    const objects = target().open(QUICK);
    proxy.fail(
      { kind: 'status', status },
      9,
      ({ method, url }) => method === 'PUT' && url.includes('object'),
    );
    const error = await errorOf(objects.put(NAME, Buffer.from('a')));
    expect(error.code).toBe('STORAGE_FULL');
    expect(error.details).toMatchObject({ operation: 'put', status });
  });
}

function secretTests(target: () => NetworkTarget): void {
  it('errors never tell a secret, also when the server repeats it', async () => {
    const { proxy, secrets } = target();
    const body = target().refusal('Refused', `You sent ${secrets.join(' and ')}.`);
    const faults: Fault[] = [400, 401, 403, 413, 500].map((status) => ({ kind: 'status', status, body }));
    for (const fault of [...faults, ...PASSING.map(([, fault]) => fault)]) {
      const objects = target().open(quickFor(fault));
      proxy.reset();
      await objects.put(NAME, patternOf(100));
      proxy.fail(fault, Number.POSITIVE_INFINITY);
      const operations = [objects.get(NAME), objects.put(NAME, Buffer.from('a')), namesOf(objects, [])];
      for (const error of await Promise.all(operations.map(errorOf))) {
        const told = inspect(error, { depth: 12, showHidden: true }) + JSON.stringify(error);
        for (const secret of secrets) expect(told).not.toContain(secret);
      }
    }
  });

  it('what went wrong before does no harm to what comes after', async () => {
    const objects = target().open(QUICK);
    target().proxy.fail({ kind: 'reset' }, 3);
    await errorOf(objects.put(NAME, Buffer.from('a')));
    await objects.put(NAME, Buffer.from('b'));
    expect(await textOf(objects, NAME)).toBe('b');
  });
}

export async function errorOf(promise: Promise<unknown>): Promise<RekindleError> {
  const thrown = await promise.then(
    () => 'it resolved',
    (thrown: unknown) => thrown,
  );
  if (!isRekindleError(thrown)) expect.fail(`no RekindleError: ${String(thrown)}`);
  return thrown;
}
