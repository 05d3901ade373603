/** Where a store keeps its objects. One folder for each kind, so that names of different kinds never meet. */
import type { KeyRange } from '../../name-key.js';
import { nameOf } from '../../name-key.js';
import type { Name } from '../../ports.js';

export const JOURNALS = 'journals';
export const DOCUMENTS = 'documents';
export const BLOBS = 'blobs';
export const LEASES = 'leases';
/** Describes the store. */
export const FORMAT: Name = ['format.json'];
/** The last segment of a lease's object: leases may lie below each other. */
export const LEASE = '.lease';
/** In the folder of a journal: what is archived and removed. */
export const STREAM_STATE = 'stream.json';

const DAMAGED = 'damaged.';

/** What a repair kept. */
export function damagedName(id: string): string {
  return `${DAMAGED}${id}`;
}

export function isDamagedName(segment: string): boolean {
  return segment.startsWith(DAMAGED);
}

export function journalAt(key: string): Name {
  return [JOURNALS, ...nameOf(key)];
}

export function documentAt(key: string): Name {
  return [DOCUMENTS, ...nameOf(key)];
}

export function leaseAt(key: string): Name {
  return [LEASES, ...nameOf(key), LEASE];
}

/** The name of the prefix of a range, as `rangeBelow` makes it. */
export function prefixOf({ start }: KeyRange): Name {
  return start === '' ? [] : nameOf(start.slice(0, -1));
}
