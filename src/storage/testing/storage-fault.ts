/** The input and output of a fault plan; see `faultyStorage`. */
import type { RekindleError } from '../../core/errors.js';
import type { Name } from '../ports.js';

/** A call of a port: the port and its method. `journal.open` and `journal.remove` are methods of `StorageBackend`. */
export type StorageOperation =
  | 'journal.open'
  | 'journal.remove'
  | 'journal.append'
  | 'journal.read'
  | 'journal.readBackward'
  | 'journal.head'
  | 'journal.archiveBefore'
  | 'journal.removeBefore'
  | 'journal.secure'
  | 'journal.repair'
  | 'journal.erase'
  | 'journal.continueAfter'
  | 'journal.close'
  | 'document.read'
  | 'document.write'
  | 'document.readBytes'
  | 'document.writeBytes'
  | 'document.overwriteTail'
  | 'document.modifiedMs'
  | 'document.setAside'
  | 'document.delete'
  | 'document.list'
  | 'blob.put'
  | 'blob.get'
  | 'blob.has'
  | 'blob.delete'
  | 'blob.list'
  | 'lease.acquire'
  | 'lease.inspect'
  | 'lease.list'
  | 'lease.check'
  | 'lease.renew'
  | 'lease.release'
  | 'backend.listNames'
  | 'backend.contents'
  | 'backend.places'
  | 'backend.removeBelow'
  | 'backend.scrub'
  | 'backend.sweep'
  | 'backend.watch'
  | 'backend.close';

/** A call that a plan is asked about. */
export interface StorageCall {
  /**
   * Starts at 1, in the order of the calls, over all ports of one backend. A call that yields entries counts when the
   * first one is requested.
   */
  readonly number: number;
  readonly operation: StorageOperation;
  /** The journal, document, lease, scope of blobs or prefix; empty for `backend.close` and `backend.scrub`. */
  readonly name: Name;
}

/** What a plan can do with a call. */
export type StorageFault =
  /** The call fails without effect. Exception: closing and releasing take effect. */
  | { readonly kind: 'fail'; readonly error: RekindleError }
  /**
   * The call takes effect, then reports the error: `JOURNAL_OUTCOME_UNKNOWN` for an append, `STORAGE_UNAVAILABLE` for
   * others. Calls that the backend rejects are rejected as usual. Yielded entries come first. What only the answer
   * could release is released: a lease, a journal, a watch.
   */
  | { readonly kind: 'lose-answer'; readonly error: RekindleError }
  /**
   * The call is executed at once, so that appends keep their order; its answer, or its first entry, comes this many
   * milliseconds later.
   */
  | { readonly kind: 'delay'; readonly ms: number }
  /**
   * As if another process had taken the lease over: `LEASE_LOST`, now and forever, and the lease's `lost` is aborted.
   * The lease is free for the next owner. Applies to `lease.check`, `lease.renew`, and writes to a journal. If the
   * journal had its own lease, that one is free once the journal is closed.
   */
  | { readonly kind: 'lose-lease' };

/** Asked before each call. Null: the call is executed normally. */
export type FaultPlan = (call: StorageCall) => StorageFault | null;
