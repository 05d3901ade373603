/** A change of one folder's names that is not, or not certainly, on the disk. */
export type NameChange =
  /** Needs the name to be free. */
  | { readonly kind: 'add'; readonly name: string; readonly inode: number }
  /** A rename inside the folder. */
  | { readonly kind: 'move'; readonly from: string; readonly name: string; readonly inode: number }
  /** The target half of a rename between folders: replaces the current entry of that name. */
  | { readonly kind: 'place'; readonly name: string; readonly inode: number }
  /** An unlink, or the source half of a rename between folders, which never survives without its target half. */
  | { readonly kind: 'remove'; readonly name: string; readonly inode: number; readonly placedIn?: number };

export interface NameOp {
  readonly id: number;
  readonly change: NameChange;
  readonly label: string;
  /** As for data; see `DataOp`. */
  status: 'pending' | 'dropped' | 'settled';
}

/**
 * False, without a change, if the operation cannot have happened on these names. @param alone ignores what happened to
 * earlier operations
 */
export function applyNameOp(entries: Map<string, number>, op: NameOp, alone = false): boolean {
  const { change } = op;
  const forced = alone || op.status === 'settled';
  if (change.kind === 'add' && entries.has(change.name) && !forced) return false;
  if (change.kind === 'move' && entries.get(change.from) !== change.inode && !forced) return false;
  if (change.kind === 'remove') {
    if (entries.get(change.name) !== change.inode) return false;
    return entries.delete(change.name);
  }
  if (change.kind === 'move' && entries.get(change.from) === change.inode) entries.delete(change.from);
  entries.set(change.name, change.inode);
  return true;
}
