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
    ...(await transcripts(backend)),
  ];
}

/** Of the Claude Agent SDK: each session of each project, and its subagents. */
async function transcripts(backend: StorageBackend): Promise<SharedJournalName[]> {
  const found: SharedJournalName[] = [];
  for await (const { kind, name } of backend.contents(['claude-agent']))
    if (kind === 'journal') found.push(journalIn(name.slice(0, -1), name.at(-1)!));
  return found;
}

function journalIn(folder: Name, journal: string): SharedJournalName {
  return { journal: [...folder, journal], lease: [...folder, 'lease'] };
}
