/** Lists the journals of workspaces, to check and repair them. */
import type { SharedJournalName } from '../storage/journal-check.js';
import type { Name, StorageBackend } from '../storage/ports.js';
import { listChunks } from './tool-calls/call-chunks.js';
import { scopedFolder, type WorkspaceScope } from './workspace-scope.js';

/**
 * Existing journals of the store's workspace, and of those of each root session and agent. @param folder of
 * the store's workspace
 */
export async function workspaceJournals(
  backend: StorageBackend,
  folder: Name = ['workspace'],
): Promise<SharedJournalName[]> {
  const found = await journalsOf(backend, folder);
  for (const scope of await scopesBelow(backend, folder))
    found.push(...(await journalsOf(backend, scopedFolder(folder, scope))));
  return found;
}

async function scopesBelow(backend: StorageBackend, folder: Name): Promise<WorkspaceScope[]> {
  const roots = await backend.listNames([...folder, 'roots']);
  const agents = await backend.listNames([...folder, 'agents']);
  return [...roots.map((root) => ({ root })), ...agents.map((agent) => ({ agent }))];
}

async function journalsOf(backend: StorageBackend, folder: Name): Promise<SharedJournalName[]> {
  const names = await backend.listNames(folder);
  const hasEntries = names.some((name) => /^entries(?:\.|$)/.test(name) && name !== 'entries.lease');
  const entries = { journal: [...folder, 'entries'], lease: [...folder, 'entries.lease'] };
  const lease = [...folder, 'tool_calls.lease'];
  const chunks = await listChunks(backend, [...folder, 'tool_calls']);
  return [...(hasEntries ? [entries] : []), ...chunks.map(({ name }) => ({ journal: name, lease }))];
}
