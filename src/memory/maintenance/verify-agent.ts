/**
 * Reads everything that an agent has and says what is wrong with it. Changes nothing.
 *
 * Beyond checksums it checks the promise itself: the context from the cache equals the context rebuilt without it.
 */
import { canonicalJson } from '../../core/canonical-json.js';
import { isRekindleError, messageOf } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { checkHistory } from '../../messages/legality/history.js';
import type { Message } from '../../messages/message.js';
import { messageToJson } from '../../messages/message-serializer.js';
import { checkJournal, isHarmful } from '../../storage/journal-check.js';
import type { JournalDamage, StorageBackend } from '../../storage/ports.js';
import { countUnknown, type UnknownTraces, unknownKindOf } from '../models/journal-header.js';
import { tryTraceFromJson } from '../models/trace-serializer.js';
import { openMemory } from '../open-memory.js';
import { withTextId } from '../restore/foreign-call-ids.js';
import type { RestoreReport } from '../restore/restore-report.js';
import {
  WorkingContextSnapshotBootstrapOptions,
  WorkingContextSnapshotBootstrapper,
} from '../restore/working-context-snapshot-bootstrapper.js';
import { MEMORY_JOURNALS, type MemoryJournalName } from '../store/memory-store.js';
import { LEDGER_EVENTS } from '../store/tool-call-ledger.js';

export interface JournalVerdict {
  readonly name: MemoryJournalName;
  readonly records: number;
  readonly unverified: number;
  /** Trace rows that are no traces; 0 for the other journals. */
  readonly notTraces: number;
  /** Rows of kinds that this release does not know, such as those of a newer one. */
  readonly unknown: readonly UnknownTraces[];
  readonly damage: readonly JournalDamage[];
}

export interface VerifyReport {
  readonly agentId: string;
  readonly ok: boolean;
  readonly journals: readonly JournalVerdict[];
  readonly artifacts: {
    readonly count: number;
    readonly damaged: readonly string[];
    readonly missing: readonly string[];
  };
  /** Null when the context cannot be restored at all; then `problems` says why. */
  readonly restore: RestoreReport | null;
  /** False when cache and rebuild differ; null when there was nothing to compare. */
  readonly cacheEqualsRebuild: boolean | null;
  /** What is wrong, in words. Empty when all is well. */
  readonly problems: readonly string[];
}

export type VerifyProgress = (step: string, records: number) => void;

const PROGRESS_EVERY = 5_000;

export async function verifyAgent(
  backend: StorageBackend,
  agentId: string,
  onProgress: VerifyProgress = () => {},
): Promise<VerifyReport> {
  const journals: JournalVerdict[] = [];
  for (const name of MEMORY_JOURNALS) journals.push(await verifyJournal(backend, agentId, name, onProgress));
  const problems = journals.flatMap(journalProblems);
  const restored = await restoreDry(backend, agentId, false).catch((thrown: unknown) =>
    failure(problems, thrown),
  );
  const artifacts = await verifyArtifacts(backend, agentId, restored?.messages ?? [], onProgress);
  if (artifacts.damaged.length > 0) problems.push(`${artifacts.damaged.length} artifacts are damaged`);
  if (artifacts.missing.length > 0) problems.push(`${artifacts.missing.length} artifacts are missing`);
  const cacheEqualsRebuild = restored ? await compareWithRebuild(backend, agentId, restored) : null;
  if (cacheEqualsRebuild === false) problems.push('the cache and a rebuild give different contexts');
  if (restored) problems.push(...contextProblems(restored));
  return {
    agentId,
    ok: problems.length === 0,
    journals,
    artifacts,
    restore: restored?.report ?? null,
    cacheEqualsRebuild,
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

function unknownEventOf(name: MemoryJournalName, { event }: JsonObject): string | null {
  if (name !== 'pending_calls' || LEDGER_EVENTS.has(String(event))) return null;
  return String(event);
}

function journalProblems(journal: JournalVerdict): string[] {
  const problems: string[] = [];
  const harmful = journal.damage.filter(isHarmful);
  if (harmful.length > 0) problems.push(`${journal.name} has ${harmful.length} damaged places`);
  if (journal.notTraces > 0)
    problems.push(`${journal.name} has ${journal.notTraces} rows that are no traces`);
  for (const { type, count, seq } of journal.unknown)
    problems.push(
      `${journal.name} has ${count} rows of an unknown kind, ${type}, from record ${seq} on: a newer release may know it`,
    );
  return problems;
}

interface Restored {
  readonly report: RestoreReport;
  readonly messages: readonly Message[];
}

async function restoreDry(backend: StorageBackend, agentId: string, ignoreCache: boolean): Promise<Restored> {
  const opened = await openMemory(backend, agentId, { readOnly: true, compaction: null });
  try {
    const options = new WorkingContextSnapshotBootstrapOptions({ ignoreCache });
    const report = await new WorkingContextSnapshotBootstrapper().bootstrap(opened.memory, null, options);
    return { report, messages: opened.memory.getWorkingContextMessages() };
  } finally {
    await opened.close();
  }
}

function failure(problems: string[], thrown: unknown): null {
  problems.push(isRekindleError(thrown) ? `${thrown.code}: ${thrown.message}` : messageOf(thrown));
  return null;
}

async function compareWithRebuild(
  backend: StorageBackend,
  agentId: string,
  restored: Restored,
): Promise<boolean | null> {
  if (!restored.report.source.startsWith('cache') || restored.report.damage.length > 0) return null;
  const rebuilt = await restoreDry(backend, agentId, true);
  return textOf(restored.messages) === textOf(rebuilt.messages);
}

function textOf(messages: readonly Message[]): string {
  return messages.map((message) => canonicalJson(messageToJson(message))).join('\n');
}

function contextProblems({ report, messages }: Restored): string[] {
  const problems: string[] = [];
  const refused = report.cacheRefused;
  if (refused && refused.reason !== 'missing')
    problems.push(`the cache is ${refused.reason}: ${refused.detail}`);
  if (report.damage.some((item) => item.reason === 'records-missing'))
    problems.push('the journal lost records');
  const [violation] = checkHistory(messages);
  if (violation) problems.push(`the context breaks ${violation.rule} at message ${violation.messageIndex}`);
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
