/** Damage by somebody, or something, that knows nothing of the format. */
import { randomBytes } from 'node:crypto';
import type { SeededRandom } from '../../../src/storage/simulated/seeded-random.js';
import { labelOf, type Mutation, pickOf, replaced } from './mutation.js';

type Change = (bytes: Buffer, random: SeededRandom) => { readonly bytes: Buffer; readonly at: string } | null;

export const DAMAGE: readonly Mutation[] = [
  damage('bit flipped', (bytes, random) => {
    const at = random.below(bytes.length);
    const bit = random.below(8);
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1 << bit;
    return { bytes: changed, at: `bit ${bit} of byte ${at}` };
  }),
  damage('byte changed', (bytes, random) => {
    const at = random.below(bytes.length);
    const changed = Buffer.from(bytes);
    changed[at]! = (changed[at]! + 1 + random.below(255)) % 256;
    return { bytes: changed, at: `byte ${at}` };
  }),
  damage('cut off', (bytes, random) => {
    const length = random.below(bytes.length);
    return { bytes: bytes.subarray(0, length), at: `after ${length} bytes` };
  }),
  damage('extended', (bytes, random) => {
    const length = 1 + random.below(40);
    const tail = random.below(2) === 0 ? Buffer.alloc(length) : randomBytes(length);
    return { bytes: Buffer.concat([bytes, tail]), at: `by ${length} bytes` };
  }),
  damage('block zeroed', (bytes, random) => {
    const start = random.below(bytes.length);
    const end = Math.min(bytes.length, start + 1 + random.below(512));
    return { bytes: Buffer.from(bytes).fill(0, start, end), at: `bytes ${start} to ${end}` };
  }),
  {
    kind: 'file deleted',
    crafted: false,
    apply(session, _, random) {
      const name = pickOf(random, [...session.files.keys()])!;
      const files = new Map(session.files);
      files.delete(name);
      return { files, what: labelOf(session.files, name) };
    },
  },
];

function damage(kind: string, change: Change): Mutation {
  return {
    kind,
    crafted: false,
    apply(session, _, random) {
      const [name, bytes] = pickOf(random, [...session.files])!;
      const changed = bytes.length === 0 ? null : change(bytes, random);
      if (!changed) return null;
      const what = `${labelOf(session.files, name)}, ${changed.at}`;
      return { files: replaced(session.files, name, changed.bytes), what };
    },
  };
}
