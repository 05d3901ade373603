/**
 * Reads everything that an agent has stored and reports what is wrong. Changes nothing.
 *
 * In addition to checksums it checks that the context from the cache equals the context rebuilt without it.
 */
import type { JsonObject } from '../../core/json.js';
import type { Message } from '../../messages/message.js';
import { checkJournal, isHarmful } from '../../storage/journal-check.js';
import type { JournalDamage, StorageBackend } from '../../storage/ports.js';
import { countUnknown, type UnknownTraces, unknownKindOf } from '../models/journal-header.js';
import { tryTraceFromJson } from '../models/trace-serializer.js';
import { withTextId } from '../restore/foreign-call-ids.js';
import type { RestoreReport } from '../restore/restore-report.js';
import { MEMORY_JOURNALS, type MemoryJournalName } from '../store/memory-store.js';
import { LEDGER_EVENTS } from '../store/tool-call-ledger.js';
import { lookAtContext } from './look-at-context.js';

export interface JournalVerdict {
  readonly name: MemoryJournalName;
  readonly records: number;
  readonly unverified: number;
  /** Rows of the trace journal that are not traces; 0 for the other journals. */
  readonly notTraces: number;
  /** Rows of kinds that this release does not know, such as those of a newer one. */
  readonly unknown: readonly UnknownTraces[];
  readonly damage: readonly JournalDamage[];
}

/** What `verifyAgent` found. */
export interface VerifyReport {
  readonly agentId: string;
  readonly ok: boolean;
  readonly journals: readonly JournalVerdict[];
  readonly artifacts: {
    readonly count: number;
    readonly damaged: readonly string[];
    readonly missing: readonly string[];
  };
  /** Null if the context cannot be restored at all; `problems` says why. */
  readonly restore: RestoreReport | null;
  /** False if cache and rebuild differ; null if there was nothing to compare. */
  readonly cacheEqualsRebuild: boolean | null;
  /** The agent wrote during every check, so that cache and rebuild could not be compared. */
  readonly isAtWork: boolean;
  /** What is wrong, in words. Empty if everything is fine. */
  readonly problems: readonly string[];
}

export type VerifyProgress = (step: string, records: number) => void;

const PROGRESS_EVERY = 5_000;

/** Checks all checksums and artifacts of an agent, and compares its cache with a rebuild. Takes no lease and writes nothing. */
export async function verifyAgent(
  backend: StorageBackend,
  agentId: string,
  onProgress: VerifyProgress = () => {},
): Promise<VerifyReport> {
  const journals: JournalVerdict[] = [];
  for (const name of MEMORY_JOURNALS) journals.push(await verifyJournal(backend, agentId, name, onProgress));
  const problems = journals.flatMap(journalProblems);
  const context = await lookAtContext(backend, agentId);
  const { restored, cacheEqualsRebuild, isAtWork } = context;
  const artifacts = await verifyArtifacts(backend, agentId, restored?.messages ?? [], onProgress);
  if (artifacts.damaged.length > 0) problems.push(`${artifacts.damaged.length} artifacts are damaged`);
  if (artifacts.missing.length > 0) problems.push(`${artifacts.missing.length} artifacts are missing`);
  problems.push(...context.problems);
  return {
    agentId,
    ok: problems.length === 0,
    journals,
    artifacts,
    restore: restored?.report ?? null,
    cacheEqualsRebuild,
    isAtWork,
    problems,
  };
}

async function verifyJournal(
  backend: StorageBackend,
  agentId: string,
  name: MemoryJournalName,
  onProgress: VerifyProgress,
): Promise<JournalVerdict> {
  let notTraces = 0;
  const unknown = new Map<string, UnknownTraces>();
  const checked = await checkJournal(backend, ['agents', agentId, name], ({ record, seq }, count) => {
    const trace = name === 'raw_traces' ? tryTraceFromJson(withTextId(record)) : undefined;
    if (trace === null) notTraces += 1;
    const kind = trace?.type === 'foreign' ? unknownKindOf(trace) : unknownEventOf(name, record);
    if (kind !== null) countUnknown(unknown, kind, seq);
    if (count % PROGRESS_EVERY === 0) onProgress(name, count);
  });
  return { name, ...checked, notTraces, unknown: [...unknown.values()] };
}

const EVENTS: Partial<Record<MemoryJournalName, ReadonlySet<string>>> = {
  pending_calls: LEDGER_EVENTS,
  inputs: new Set(['queued', 'taken', 'withdrawn']),
};

function unknownEventOf(name: MemoryJournalName, { event }: JsonObject): string | null {
  return EVENTS[name]?.has(String(event)) === false ? String(event) : null;
}

function journalProblems(journal: JournalVerdict): string[] {
  const problems: string[] = [];
  const harmful = journal.damage.filter(isHarmful);
  if (harmful.length > 0) problems.push(`${journal.name} has ${harmful.length} damaged places`);
  if (journal.notTraces > 0)
    problems.push(`${journal.name} has ${journal.notTraces} rows that are not traces`);
  for (const { type, count, seq } of journal.unknown)
    problems.push(
      `${journal.name} has ${count} rows of an unknown kind, ${type}, from record ${seq} on: a newer release may know it`,
    );
  return problems;
}

async function verifyArtifacts(
  backend: StorageBackend,
  agentId: string,
  messages: readonly Message[],
  onProgress: VerifyProgress,
): Promise<VerifyReport['artifacts']> {
  const blobs = backend.blobs(['agents', agentId, 'artifacts']);
  const found = new Set<string>();
  const damaged: string[] = [];
  for await (const { digest } of blobs.list()) {
    found.add(digest);
    await blobs.get(digest).catch(() => damaged.push(digest));
    if (found.size % 100 === 0) onProgress('artifacts', found.size);
  }
  const missing = artifactRefs(messages).filter((digest) => !found.has(digest));
  return { count: found.size, damaged, missing };
}

function artifactRefs(messages: readonly Message[]): string[] {
  const parts = messages.flatMap((message) => message.parts ?? []);
  const refs = parts.flatMap((part) => (part.type === 'media' ? [part.media.ref] : []));
  return [
    ...new Set(refs.filter((ref) => ref.startsWith('sha256:')).map((ref) => ref.slice('sha256:'.length))),
  ];
}
