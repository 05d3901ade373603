/**
 * Whose workspace it is. One that belongs to a root session is shared by that root and all its children, as their state is; one that
 * belongs to an agent is its own. `store` is the workspace that all users of the store have in common.
 */
import type { Name } from '../storage/ports.js';

export type WorkspaceScope = 'store' | { readonly root: string } | { readonly agent: string };

/** Below the folder of the store's workspace. */
export function scopedFolder(folder: Name, scope: WorkspaceScope): Name {
  if (scope === 'store') return folder;
  return 'root' in scope ? [...folder, 'roots', scope.root] : [...folder, 'agents', scope.agent];
}
