/** What a plan of faults is told, and what it may answer; see `faultyStorage`. */
import type { RekindleError } from '../../core/errors.js';
import type { Name } from '../ports.js';

/** A call of a port: the port, and its method. `journal.open` and `journal.remove` are methods of `StorageBackend`. */
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

export interface StorageCall {
  /** From 1, in the order of the calls, over all ports of one backend. What gives entries one by one is called when the first is asked for. */
  readonly number: number;
  readonly operation: StorageOperation;
  /** The journal, document, lease, scope of blobs or prefix; empty for `backend.close` and `backend.scrub`. */
  readonly name: Name;
}

export type StorageFault =
  /** Not carried out. Closing and releasing are carried out all the same. */
  | { readonly kind: 'fail'; readonly error: RekindleError }
  /**
   * Carried out, and then the error: `JOURNAL_OUTCOME_UNKNOWN` for an append, `STORAGE_UNAVAILABLE` for everything else. What is
   * refused is refused as ever. Entries that are given one by one are given first. What nobody can let go without the answer is let
   * go: a lease, a journal, a watch.
   */
  | { readonly kind: 'lose-answer'; readonly error: RekindleError }
  /** Carried out at once, so that appends keep their order; the answer comes so many milliseconds later, or entries begin to. */
  | { readonly kind: 'delay'; readonly ms: number }
  /**
   * As if somebody had taken the lease over: `LEASE_LOST`, now and for ever, and the lease's `lost` is aborted. The lease is free
   * for the next owner. For `lease.check`, `lease.renew`, and what writes a journal; where the journal had taken a lease of its own,
   * that one is free once the journal is closed.
   */
  | { readonly kind: 'lose-lease' };

/** Asked before each call. Null: it is carried out as ever. */
export type FaultPlan = (call: StorageCall) => StorageFault | null;
