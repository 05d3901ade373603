/** A change of one file's bytes that is not, or not certainly, on the disk. */
export type Change =
  | { readonly kind: 'write'; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly size: number }
  /** Occurs only after a crash: the size reached the disk, the data did not. */
  | { readonly kind: 'grow'; readonly size: number };

export interface DataOp {
  readonly id: number;
  readonly change: Change;
  /**
   * `pending`: the next sync makes it durable. `dropped`: a sync failed, so no later sync makes it durable, though it
   * may have survived. `settled`: durable, but kept behind a dropped change to preserve the order.
   */
  status: 'pending' | 'dropped' | 'settled';
}

/** A changed copy, or the same bytes if nothing changes. */
export function applyChange(bytes: Uint8Array, change: Change): Uint8Array {
  if (change.kind === 'write') return overlay(bytes, change.offset, change.bytes);
  return resize(bytes, change.kind === 'grow' ? Math.max(change.size, bytes.length) : change.size);
}

/** A hole before `offset` reads as zeros. */
function overlay(bytes: Uint8Array, offset: number, patch: Uint8Array): Uint8Array {
  const result = new Uint8Array(Math.max(bytes.length, offset + patch.length));
  result.set(bytes);
  result.set(patch, offset);
  return result;
}

function resize(bytes: Uint8Array, size: number): Uint8Array {
  if (size <= bytes.length) return bytes.subarray(0, size);
  const result = new Uint8Array(size);
  result.set(bytes);
  return result;
}
