/** The summary of an agent that `list` shows: cheap, without a restore. */
import { isRekindleError } from '../../core/errors.js';
import type { LeaseOwner, StorageBackend } from '../../storage/ports.js';
import { agentExists, openMemory } from '../open-memory.js';
import type { SnapshotFile } from '../store/snapshot-file.js';

/** A cheap overview of one agent, read without a restore. */
export interface AgentSummary {
  readonly agentId: string;
  /** `running`: a live process holds its lease. `crashed`: its owner died without releasing it. */
  readonly status: 'running' | 'crashed' | 'stopped';
  readonly owner: LeaseOwner | null;
  /** Messages in the cache; null without a readable cache. */
  readonly messages: number | null;
  readonly epochId: number | null;
  readonly snapshot: 'valid' | 'plain' | 'damaged' | 'unreadable' | 'newer' | 'foreign' | 'missing';
  readonly traces: number;
  /** Time of the last trace, in seconds since 1970; null without traces. */
  readonly lastTraceTs: number | null;
}

/** Summaries of all agents in a store, sorted by id. Takes no lease and writes nothing. */
export async function listAgents(
  backend: StorageBackend,
  isWanted: (agentId: string) => boolean = () => true,
): Promise<AgentSummary[]> {
  const summaries: AgentSummary[] = [];
  for (const agentId of (await listAgentIds(backend)).filter(isWanted)) {
    const summary = await summarizeAgent(backend, agentId);
    if (summary) summaries.push(summary);
  }
  return summaries;
}

/** Entries below `agents/` that are agents. */
export async function listAgentIds(backend: StorageBackend): Promise<string[]> {
  const ids: string[] = [];
  for (const agentId of await backend.listNames(['agents']))
    if (await isListedAgent(backend, agentId)) ids.push(agentId);
  return ids;
}

/** Files and links that someone put below `agents/` are not agents. */
export async function isListedAgent(backend: StorageBackend, agentId: string): Promise<boolean> {
  try {
    return await agentExists(backend, agentId);
  } catch (thrown) {
    if (isRekindleError(thrown, 'PATH_REFUSED')) return false;
    throw thrown;
  }
}

/** Null for a folder that holds nothing of an agent. */
export async function summarizeAgent(backend: StorageBackend, agentId: string): Promise<AgentSummary | null> {
  const opened = await openMemory(backend, agentId, { readOnly: true, compaction: null });
  try {
    const file = await opened.memory.snapshotStore.load();
    const journal = await opened.memory.store.journal('raw_traces');
    const { seq } = await journal.head();
    if (file === null && seq === 0 && journal.openingDamage().length === 0) return null;
    const lease = await backend.leases.inspect(['agents', agentId]);
    return {
      agentId,
      status: lease === null ? 'stopped' : lease.alive ? 'running' : 'crashed',
      owner: lease?.owner ?? null,
      messages: file?.status === 'valid' ? file.messages.length : plainCount(file),
      epochId: file?.status === 'valid' ? file.footer.epochId : null,
      snapshot: file?.status ?? 'missing',
      traces: seq,
      lastTraceTs: await lastTs(journal),
    };
  } finally {
    await opened.close();
  }
}

function plainCount(file: SnapshotFile | null): number | null {
  if (file?.status !== 'plain') return null;
  const { messages } = file.payload;
  return Array.isArray(messages) ? messages.length : null;
}

async function lastTs(journal: Awaited<ReturnType<StorageBackend['openJournal']>>): Promise<number | null> {
  for await (const entry of journal.readBackward()) {
    const ts = entry.kind === 'record' ? entry.record['ts'] : undefined;
    if (typeof ts === 'number') return ts;
  }
  return null;
}
