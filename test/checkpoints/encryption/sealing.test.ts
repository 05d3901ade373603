import { createCipheriv, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { open, SEAL_BYTES, seal } from '../../../src/storage/sealing/aes-seal.js';

const key = randomBytes(32);
const plain = Buffer.from('what is sealed');

/** As `seal` lays it out, with a tag of another length. */
function sealedWithTag(tagBytes: number): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from('bound'));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

describe('what is sealed', () => {
  it('opens with the same key for the same purpose', () => {
    expect(open(key, seal(key, plain, 'bound'), 'bound')).toEqual(plain);
  });

  it('may be nothing', () => {
    const sealed = seal(key, new Uint8Array(), 'bound');
    expect(sealed).toHaveLength(SEAL_BYTES);
    expect(open(key, sealed, 'bound')).toEqual(Buffer.alloc(0));
    expect(open(key, sealed, 'other')).toBeNull();
  });

  it('does not open with another key', () => {
    expect(open(randomBytes(32), seal(key, plain, 'bound'), 'bound')).toBeNull();
  });

  it.each(['', 'other', 'bound ', 'Bound', 'bound\u0000'])(
    'does not open for another purpose: %j',
    (bound) => {
      expect(open(key, seal(key, plain, 'bound'), bound)).toBeNull();
    },
  );

  it('does not open when any of its bits is another one: nonce, text and tag', () => {
    const sealed = seal(key, plain, 'bound');
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(open(key, changed, 'bound')).toBeNull();
    }
  });

  it('does not open when it was cut or extended, at either end', () => {
    const sealed = seal(key, plain, 'bound');
    for (let length = 0; length < sealed.length; length += 1) {
      expect(open(key, sealed.subarray(0, length), 'bound')).toBeNull();
      expect(open(key, sealed.subarray(sealed.length - length), 'bound')).toBeNull();
    }
    expect(open(key, Buffer.concat([sealed, Buffer.alloc(1)]), 'bound')).toBeNull();
    expect(open(key, Buffer.concat([Buffer.alloc(1), sealed]), 'bound')).toBeNull();
  });

  it.each([4, 8, 12, 13, 14, 15])('does not open with a genuine tag of %i bytes', (tagBytes) => {
    expect(open(key, sealedWithTag(tagBytes), 'bound')).toBeNull();
  });

  it('opens with a genuine tag of 16 bytes', () => {
    expect(open(key, sealedWithTag(16), 'bound')).toEqual(plain);
  });

  it('never has the same nonce, and the same text never looks the same', () => {
    const nonces = new Set<string>();
    const texts = new Set<string>();
    for (let count = 0; count < 5_000; count += 1) {
      const sealed = seal(key, plain, 'bound');
      nonces.add(sealed.toString('latin1', 0, 12));
      texts.add(sealed.toString('latin1', 12));
    }
    expect(nonces.size).toBe(5_000);
    expect(texts.size).toBe(5_000);
  });

  it('takes nonces that use all of their 96 bits', () => {
    let seen = Buffer.alloc(12);
    for (let count = 0; count < 200; count += 1) {
      const nonce = seal(key, plain, '').subarray(0, 12);
      seen = Buffer.from(seen.map((byte, at) => byte | nonce[at]!));
    }
    expect(seen).toEqual(Buffer.alloc(12, 0xff));
  });
});
