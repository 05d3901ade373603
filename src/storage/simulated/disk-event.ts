/**
 * The log of the simulated disk: every call that changes something, in order. An event's id is its index in the log. A
 * sync covers the events before `before`, except those that were still running when it was called.
 */
export interface WriteEvent {
  readonly kind: 'write';
  readonly inode: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly atMs: number;
}

export interface TruncateEvent {
  readonly kind: 'truncate';
  readonly inode: number;
  readonly size: number;
  readonly atMs: number;
}

export interface SyncEvent {
  readonly kind: 'datasync' | 'sync-folder';
  readonly inode: number;
  readonly before: number;
  readonly except: readonly number[];
  /** The sync failed: its changes are marked clean, so no later sync makes them durable. */
  readonly failed: boolean;
}

export interface AddEvent {
  readonly kind: 'create' | 'link' | 'make-folder';
  readonly folder: number;
  readonly name: string;
  readonly inode: number;
  readonly atMs: number;
}

export interface UnlinkEvent {
  readonly kind: 'unlink';
  readonly folder: number;
  readonly name: string;
  readonly inode: number;
}

export interface RenameEvent {
  readonly kind: 'rename';
  readonly fromFolder: number;
  readonly fromName: string;
  readonly toFolder: number;
  readonly toName: string;
  readonly inode: number;
}

/** Modification times are not tested here, so a touch is durable at once. */
export interface TouchEvent {
  readonly kind: 'touch';
  readonly inode: number;
  readonly modifiedMs: number;
}

export type DiskEvent =
  | WriteEvent
  | TruncateEvent
  | SyncEvent
  | AddEvent
  | UnlinkEvent
  | RenameEvent
  | TouchEvent;
