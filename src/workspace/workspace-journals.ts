/** The journals of a workspace: for those who check and mend them. */
import type { SharedJournalName } from '../storage/journal-check.js';
import type { Name, StorageBackend } from '../storage/ports.js';
import { listChunks } from './tool-calls/call-chunks.js';

/** Those that are there. @param folder of the workspace */
export async function workspaceJournals(
  backend: StorageBackend,
  folder: Name = ['workspace'],
): Promise<SharedJournalName[]> {
  const names = await backend.listNames(folder);
  const hasEntries = names.some((name) => /^entries(?:\.|$)/.test(name) && name !== 'entries.lease');
  const entries = { journal: [...folder, 'entries'], lease: [...folder, 'entries.lease'] };
  const lease = [...folder, 'tool_calls.lease'];
  const chunks = await listChunks(backend, [...folder, 'tool_calls']);
  return [...(hasEntries ? [entries] : []), ...chunks.map(({ name }) => ({ journal: name, lease }))];
}
