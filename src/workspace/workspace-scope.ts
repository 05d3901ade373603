import type { Name } from '../storage/ports.js';

/**
 * The owner of a workspace. A root session's workspace is shared with all its children; an agent's workspace
 * is its own. `store` is the workspace that all users of the store share.
 */
export type WorkspaceScope = 'store' | { readonly root: string } | { readonly agent: string };

/** The workspace's folder, below the folder of the store's workspace. */
export function scopedFolder(folder: Name, scope: WorkspaceScope): Name {
  if (scope === 'store') return folder;
  return 'root' in scope ? [...folder, 'roots', scope.root] : [...folder, 'agents', scope.agent];
}
