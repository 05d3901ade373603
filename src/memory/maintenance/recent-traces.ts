/** The newest traces of an agent as stored, page by page. Takes no lease and writes nothing. */
import type { JsonObject } from '../../core/json.js';
import type { StorageBackend } from '../../storage/ports.js';
import { assertAgentExists, openMemory } from '../open-memory.js';

export interface StoredTrace {
  /** Its number in the journal. */
  readonly number: number;
  readonly row: JsonObject;
}

export interface TracePage {
  /** Newest first. */
  readonly traces: readonly StoredTrace[];
  /** Pass it to get the next page; null if there is none. */
  readonly before: number | null;
}

/** @throws AGENT_NOT_FOUND */
export async function recentTraces(
  backend: StorageBackend,
  agentId: string,
  { limit, before = Number.POSITIVE_INFINITY }: { readonly limit: number; readonly before?: number },
): Promise<TracePage> {
  const traces: StoredTrace[] = [];
  for await (const trace of tracesBackward(backend, agentId)) {
    if (trace.number >= before) continue;
    if (traces.length === limit) return { traces, before: traces.at(-1)?.number ?? null };
    traces.push(trace);
  }
  return { traces, before: null };
}

/** Every trace, newest first. @throws AGENT_NOT_FOUND */
export async function* tracesBackward(backend: StorageBackend, agentId: string): AsyncGenerator<StoredTrace> {
  await assertAgentExists(backend, agentId);
  const opened = await openMemory(backend, agentId, { readOnly: true, compaction: null });
  try {
    const journal = await opened.memory.store.journal('raw_traces');
    for await (const entry of journal.readBackward())
      if (entry.kind === 'record') yield { number: entry.seq, row: entry.record };
  } finally {
    await opened.close();
  }
}
