import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRekindleError } from '../../src/core/errors.js';
import { NAME_BYTES_MAX } from '../../src/core/limits.js';
import { decodeNameSegment, encodeNameSegment } from '../../src/storage/name-encoding.js';
import { AWKWARD_NAMES, REFUSED_NAMES } from '../../src/storage/testing/awkward-samples.js';

const seed = Number(process.env['REKINDLE_SEED'] ?? Date.now() % 2 ** 31);
const parameters = { seed, numRuns: 5_000 };
console.log(`name-encoding: REKINDLE_SEED=${seed}`);

/** Names near the edges of the rules, and any text at all. */
const anyName = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: fc.constantFrom(...'aA.-_%~ 0/\\:*éßıİſ\u0301\u00b2'), maxLength: 12 }),
  fc.constantFrom(...AWKWARD_NAMES, ...REFUSED_NAMES),
);

function encodedOrNull(name: string): string | null {
  try {
    return encodeNameSegment(name);
  } catch (thrown) {
    expect(isRekindleError(thrown, 'INVALID_NAME')).toBe(true);
    return null;
  }
}

describe('the encoding of a name', () => {
  it('gives back the name, or refuses it with INVALID_NAME', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const encoded = encodedOrNull(name);
        if (encoded !== null) expect(decodeNameSegment(encoded)).toBe(name);
      }),
      parameters,
    );
  });

  it('is injective, also on a file system that ignores letter case or composes accents', () => {
    fc.assert(
      fc.property(anyName, anyName, (one, two) => {
        fc.pre(one !== two);
        const [first, second] = [encodedOrNull(one), encodedOrNull(two)];
        if (first === null || second === null) return;
        expect(first.toLowerCase().normalize('NFC')).not.toBe(second.toLowerCase().normalize('NFC'));
        expect(first.toUpperCase().normalize('NFD')).not.toBe(second.toUpperCase().normalize('NFD'));
      }),
      parameters,
    );
  });

  it('is a file name that every common file system takes, and no hidden or device name', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const encoded = encodedOrNull(name);
        if (encoded === null) return;
        expect(encoded).toMatch(/^(?:[a-z0-9_-]|%[0-9a-f]{2})(?:[a-z0-9._-]|%[0-9a-f]{2})*$/);
        expect(encoded).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i);
        expect(encoded).not.toMatch(/\.$/);
        expect(Buffer.byteLength(encoded)).toBeLessThanOrEqual(NAME_BYTES_MAX);
      }),
      parameters,
    );
  });

  it('keeps plain names as they are', () => {
    const plain = fc.stringMatching(/^[a-z0-9_-][a-z0-9._-]{0,60}[a-z0-9_-]$/);
    fc.assert(
      fc.property(plain, (name) => {
        const encoded = encodedOrNull(name);
        if (encoded !== null) expect(encoded).toBe(name);
      }),
      parameters,
    );
  });

  it('decodes nothing that it would not encode', () => {
    const almost = fc.string({ unit: fc.constantFrom(...'aA.-_%0123456789abcdefF ~'), maxLength: 20 });
    fc.assert(
      fc.property(fc.oneof(almost, anyName), (fileName) => {
        const decoded = decodeNameSegment(fileName);
        if (decoded !== null) expect(encodeNameSegment(decoded)).toBe(fileName);
      }),
      parameters,
    );
  });

  it.each(REFUSED_NAMES.map((name) => [JSON.stringify(name).slice(0, 40), name]))('refuses %s', (_, name) => {
    expect(encodedOrNull(name)).toBeNull();
  });

  it.each(AWKWARD_NAMES.map((name) => [JSON.stringify(name).slice(0, 40), name]))('accepts %s', (_, name) => {
    expect(decodeNameSegment(encodeNameSegment(name))).toBe(name);
  });

  it('refuses what is no text, and says what it was', () => {
    for (const value of [undefined, null, 1, {}, []]) {
      expect(() => encodeNameSegment(value as unknown as string)).toThrow(/is not allowed: not text/);
    }
  });
});
