/** Lists the journals of adapters in their default folders, for maintenance. Loads no third-party package. */
import type { SharedJournalName } from '../storage/journal-check.js';
import type { Name, StorageBackend } from '../storage/ports.js';

export async function adapterJournals(backend: StorageBackend): Promise<SharedJournalName[]> {
  const threads = await backend.listNames(['langgraph', 'threads']);
  const store = (await backend.listNames(['langgraph'])).includes('store');
  const sessions = await backend.listNames(['openai-agents']);
  return [
    ...threads.map((key) => journalIn(['langgraph', 'threads', key], 'checkpoints')),
    ...(store ? [journalIn(['langgraph', 'store'], 'items')] : []),
    ...sessions.map((key) => journalIn(['openai-agents', key], 'items')),
  ];
}

function journalIn(folder: Name, journal: string): SharedJournalName {
  return { journal: [...folder, journal], lease: [...folder, 'lease'] };
}
