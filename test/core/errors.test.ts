import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  ERROR_ADVICE,
  type ErrorCode,
  isRekindleError,
  messageOf,
  RekindleError,
} from '../../src/core/errors.js';

const docs = new URL('../../docs/errors.md', import.meta.url);
const codes = Object.keys(ERROR_ADVICE) as ErrorCode[];

describe('RekindleError', () => {
  it('carries its code, its details, its cause and the advice for the code', () => {
    const cause = new Error('disk');
    const error = new RekindleError('STORAGE_FULL', 'No room.', { details: { path: 'a' }, cause });
    expect(error).toMatchObject({ name: 'RekindleError', code: 'STORAGE_FULL', message: 'No room.', cause });
    expect(error.details).toStrictEqual({ path: 'a' });
    expect(error.advice).toBe(ERROR_ADVICE.STORAGE_FULL);
  });

  it('becomes plain JSON with the cause reduced to its message', () => {
    const error = new RekindleError('LEASE_HELD', 'In use.', { cause: new Error('busy') });
    expect(JSON.parse(JSON.stringify(error))).toStrictEqual({
      name: 'RekindleError',
      code: 'LEASE_HELD',
      message: 'In use.',
      details: {},
      advice: ERROR_ADVICE.LEASE_HELD,
      cause: 'busy',
    });
  });

  it('has no cause in its JSON when it has none', () => {
    expect(new RekindleError('ABORTED', 'Stopped.').toJSON()).not.toHaveProperty('cause');
  });

  it('is recognised by its marker, also across two copies of the package', () => {
    const fromAnotherCopy = Object.assign(new Error('x'), {
      code: 'ABORTED',
      [Symbol.for('rekindle.error')]: true,
    });
    expect(isRekindleError(fromAnotherCopy)).toBe(true);
    expect(isRekindleError(fromAnotherCopy, 'ABORTED')).toBe(true);
    expect(isRekindleError(fromAnotherCopy, 'LEASE_LOST')).toBe(false);
  });

  it.each([null, undefined, 'ABORTED', 1, {}, new Error('x'), { code: 'ABORTED' }])(
    'does not recognise %s',
    (value) => {
      expect(isRekindleError(value)).toBe(false);
    },
  );

  it('does not show its marker when its keys are listed', () => {
    expect(Object.getOwnPropertySymbols({ ...new RekindleError('ABORTED', 'x') })).toStrictEqual([]);
  });
});

describe('messageOf', () => {
  it.each([
    [new Error('boom'), 'boom'],
    ['text', 'text'],
    [undefined, 'undefined'],
    [Symbol('s'), 'Symbol(s)'],
    [Object.create(null), 'unknown error'],
  ])('gives a text for %o', (thrown, text) => {
    expect(messageOf(thrown)).toBe(text);
  });

  it('gives a text for an error whose message is no text', () => {
    expect(messageOf(Object.assign(new Error('x'), { message: 7 }))).toBe('7');
  });

  it('gives a text for a revoked proxy', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(messageOf(proxy)).toBe('unknown error');
  });
});

describe('docs/errors.md', () => {
  const text = existsSync(docs) ? readFileSync(docs, 'utf8') : null;

  it.each(codes)('has a heading for %s', (code) => {
    expect(text, 'docs/errors.md is missing').not.toBeNull();
    expect(text).toMatch(new RegExp(`^#{2,4} \`?${code}\`?\\s*$`, 'm'));
  });

  it('has no heading for a code that does not exist', () => {
    const headings = [...(text ?? '').matchAll(/^#{2,4} `?([A-Z][A-Z_]+[A-Z])`?\s*$/gm)].map(
      (match) => match[1],
    );
    expect(headings.filter((code) => !codes.includes(code as ErrorCode))).toStrictEqual([]);
  });
});
