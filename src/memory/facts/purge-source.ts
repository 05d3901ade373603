/**
 * Purges what came from one source, or was made from it: facts and summaries. A row names the purged items. Their
 * bytes, and the original messages, stay in the journals until they are erased.
 */
import { type Clock, systemClock } from '../../core/clock.js';
import { newId } from '../../core/ids.js';
import type { Message } from '../../messages/message.js';
import type { StorageBackend } from '../../storage/ports.js';
import { CompactionSnapshotBuilder } from '../compaction/compaction-snapshot-builder.js';
import { FACTS_KEPT, SUMMARIES_KEPT } from '../compaction/compactor.js';
import type { MemoryManager } from '../memory-manager.js';
import type { EpisodicItem } from '../models/memory-items.js';
import { assertAgentExists, openMemory } from '../open-memory.js';
import { WorkingContextSnapshotBootstrapper } from '../restore/working-context-snapshot-bootstrapper.js';
import { type Fact, type FactEntry, factOf, originsOfItem } from './fact.js';
import type { FactLog } from './fact-log.js';
import { type Mark, markToJson } from './fact-mark.js';
import { comesFrom, UNKNOWN_ORIGIN } from './fact-source.js';
import { keepFacts } from './keep-facts.js';
import { SubjectFacts } from './subject-facts.js';

/** Whose memory: an agent's, or the facts that a scope shares. */
export type FactOwner = { readonly agentId: string } | { readonly scope: string };

/** The number of current facts and summaries from one source. */
export interface SourceCount {
  /** `user`, `agent`, `import`, `tool:NAME`; `unknown` for items of older releases. */
  readonly source: string;
  readonly facts: number;
  readonly summaries: number;
}

/** What a purge removes, or would remove. */
export interface SourcePurge {
  readonly source: string;
  readonly facts: readonly Fact[];
  readonly summaries: readonly EpisodicItem[];
}

const NOTHING_LEFT = 'Nothing is kept of what was said before this.';

/** Facts of an owner, oldest first. Writes nothing. @throws AGENT_NOT_FOUND, INVALID_NAME */
export function listFacts(backend: StorageBackend, owner: FactOwner, all: boolean): Promise<Fact[]> {
  return reading(backend, owner, async (log) => {
    const entries = (await log.table()).all();
    const shown = all
      ? entries
      : entries.filter(({ gone, replacedBy }) => gone === null && replacedBy === null);
    return shown.map((entry) => factOf(entry, scopeOf(owner)));
  });
}

/** The sources of current facts and summaries, most frequent first. Writes nothing. @throws AGENT_NOT_FOUND, INVALID_NAME */
export function listSources(backend: StorageBackend, owner: FactOwner): Promise<SourceCount[]> {
  return reading(backend, owner, async (log, memory) => {
    const counts = new Map<string, { facts: number; summaries: number }>();
    const countOf = (source: string) => {
      const known = counts.get(source) ?? { facts: 0, summaries: 0 };
      counts.set(source, known);
      return known;
    };
    for (const item of (await log.table()).standing())
      for (const origin of originsOfItem(item)) countOf(origin).facts += 1;
    for (const item of (await memory?.store.listEpisodic()) ?? [])
      for (const origin of originsOfSummary(item)) countOf(origin).summaries += 1;
    const found = [...counts].map(([source, count]) => ({ source, ...count }));
    return found.sort((a, b) => b.facts + b.summaries - (a.facts + a.summaries));
  });
}

/** What `purgeSource` would remove. Writes nothing. @throws AGENT_NOT_FOUND, INVALID_NAME */
export function planPurge(backend: StorageBackend, owner: FactOwner, source: string): Promise<SourcePurge> {
  return reading(backend, owner, (log, memory) => planOf(owner, log, memory, source));
}

/**
 * Removes all facts and summaries of one source. Durable when it resolves; after a crash, repeat the call. The agent's
 * memory message is rebuilt without them. Agents of a scope drop them at their next compaction.
 * @throws AGENT_NOT_FOUND, INVALID_NAME, LEASE_HELD while the agent runs
 */
export async function purgeSource(
  backend: StorageBackend,
  owner: FactOwner,
  source: string,
  clock: Clock = systemClock,
): Promise<SourcePurge> {
  if ('scope' in owner)
    return reading(backend, owner, async (log) => {
      const plan = await planOf(owner, log, null, source);
      await markFacts(log, plan, clock);
      return plan;
    });
  await assertAgentExists(backend, owner.agentId);
  const opened = await openMemory(backend, owner.agentId, { compaction: null, clock });
  try {
    const { memory } = opened;
    await new WorkingContextSnapshotBootstrapper().bootstrap(memory, null);
    const plan = await planOf(owner, memory.store.facts, memory, source);
    await clearContext(memory, plan); // first, so that a repetition after a crash still finds the items
    await markFacts(memory.store.facts, plan, clock);
    const ids = plan.summaries.map(({ id }) => id);
    if (ids.length > 0) await memory.store.addEpisodicMark(markToJson(purgeMark(ids, source, clock)));
    await memory.persistWorkingContextSnapshot();
    return plan;
  } finally {
    await opened.close();
  }
}

async function reading<T>(
  backend: StorageBackend,
  owner: FactOwner,
  look: (log: FactLog, memory: MemoryManager | null) => Promise<T>,
): Promise<T> {
  if ('scope' in owner) {
    const subject = new SubjectFacts(backend, owner.scope);
    return look(subject, null).finally(() => subject.close());
  }
  await assertAgentExists(backend, owner.agentId);
  const opened = await openMemory(backend, owner.agentId, { readOnly: true, compaction: null });
  return look(opened.memory.store.facts, opened.memory).finally(() => opened.close());
}

async function planOf(
  owner: FactOwner,
  log: FactLog,
  memory: MemoryManager | null,
  source: string,
): Promise<SourcePurge> {
  const isFrom = ({ item, gone }: FactEntry) => gone === null && comesFrom(originsOfItem(item), source);
  const summaries = (await memory?.store.listEpisodic()) ?? [];
  return {
    source,
    facts: (await log.table())
      .all()
      .filter(isFrom)
      .map((entry) => factOf(entry, scopeOf(owner))),
    summaries: summaries.filter((item) => comesFrom(originsOfSummary(item), source)),
  };
}

async function markFacts(log: FactLog, { facts, source }: SourcePurge, clock: Clock): Promise<void> {
  const ids = facts.map(({ id }) => id);
  if (ids.length === 0) return;
  await log.change(() => ({ rows: [markToJson(purgeMark(ids, source, clock))], done: () => {} }));
}

function purgeMark(ids: readonly string[], source: string, clock: Clock): Mark {
  const nowMs = clock.nowMs();
  return { id: newId('mark', nowMs), ts: nowMs / 1000, mark: 'purge', ids, source };
}

async function clearContext(memory: MemoryManager, plan: SourcePurge): Promise<void> {
  const at = memory.getWorkingContextMessages().findIndex(({ kind }) => kind === 'memory');
  if (at < 0 || plan.facts.length + plan.summaries.length === 0) return;
  const gone = new Set([...plan.facts, ...plan.summaries].map(({ id }) => id));
  const episodic = (await memory.store.listEpisodic()).filter(({ id }) => !gone.has(id));
  const semantic = (await memory.store.listSemantic()).filter(({ id }) => !gone.has(id));
  const bundle = {
    episodic: episodic.slice(-SUMMARIES_KEPT),
    semantic: keepFacts(semantic, FACTS_KEPT),
  };
  const [made] = new CompactionSnapshotBuilder().build('', bundle, []);
  const insert: Message[] = [made ?? { role: 'user', kind: 'memory', content: NOTHING_LEFT }];
  await memory.repairList({ kind: 'repair', at, deleteCount: 1, insert, codes: ['purge'] });
}

function originsOfSummary({ origins = [UNKNOWN_ORIGIN] }: EpisodicItem): readonly string[] {
  return origins;
}

function scopeOf(owner: FactOwner): string | null {
  return 'scope' in owner ? owner.scope : null;
}
