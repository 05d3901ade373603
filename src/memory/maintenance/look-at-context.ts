/**
 * Restores the context with and without the cache, and compares the two. The agent may be running. A difference is then
 * checked again, until the agent did not change during a check, or nothing is wrong.
 */
import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalJson } from '../../core/canonical-json.js';
import { isRekindleError, messageOf } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { checkHistory } from '../../messages/legality/history.js';
import type { Message } from '../../messages/message.js';
import { messageToJson } from '../../messages/message-serializer.js';
import type { StorageBackend } from '../../storage/ports.js';
import { openMemory } from '../open-memory.js';
import type { RestoreReport } from '../restore/restore-report.js';
import {
  WorkingContextSnapshotBootstrapOptions,
  WorkingContextSnapshotBootstrapper,
} from '../restore/working-context-snapshot-bootstrapper.js';
import { SNAPSHOT_FILE } from '../store/working-context-snapshot-store.js';

export interface ContextLook {
  /** Null if the context cannot be restored at all. */
  readonly restored: Restored | null;
  readonly cacheEqualsRebuild: boolean | null;
  /** The agent wrote during every check, so a difference proves nothing. */
  readonly isAtWork: boolean;
  readonly problems: readonly string[];
}

const LOOKS_MAX = 8;
const PAUSE_MS = 20;
const DIFFERENT = 'the cache and a rebuild give different contexts';

export async function lookAtContext(backend: StorageBackend, agentId: string): Promise<ContextLook> {
  for (let looks = 1; ; looks += 1) {
    const before = await momentOf(backend, agentId);
    const look = await lookOnce(backend, agentId);
    if (look.problems.length === 0 || before === (await momentOf(backend, agentId))) return look;
    if (looks < LOOKS_MAX) {
      await sleep(PAUSE_MS * 2 ** looks * Math.random()); // a random pause, to avoid running in step with the agent
      continue;
    }
    if (look.cacheEqualsRebuild !== false) return { ...look, isAtWork: true };
    const problems = look.problems.filter((problem) => problem !== DIFFERENT);
    return { ...look, cacheEqualsRebuild: null, isAtWork: true, problems };
  }
}

async function lookOnce(backend: StorageBackend, agentId: string): Promise<ContextLook> {
  try {
    const restored = await restoreDry(backend, agentId, false);
    const cacheEqualsRebuild = await compareWithRebuild(backend, agentId, restored);
    const problems = cacheEqualsRebuild === false ? [DIFFERENT] : [];
    problems.push(...contextProblems(restored));
    return { restored, cacheEqualsRebuild, isAtWork: false, problems };
  } catch (thrown) {
    const problem = isRekindleError(thrown) ? `${thrown.code}: ${thrown.message}` : messageOf(thrown);
    return { restored: null, cacheEqualsRebuild: null, isAtWork: false, problems: [problem] };
  }
}

/** The same text as long as nothing is written. */
async function momentOf(backend: StorageBackend, agentId: string): Promise<string> {
  const folder = ['agents', agentId];
  try {
    const journal = await backend.openJournal<JsonObject>([...folder, 'raw_traces'], { readOnly: true });
    const { seq } = await journal.head().finally(() => journal.close());
    const cache = await backend.documents.readBytes([...folder, SNAPSHOT_FILE]);
    return `${seq} ${cache ? hash('sha256', cache, 'hex') : ''}`;
  } catch (thrown) {
    return messageOf(thrown); // the check reports it too
  }
}

export interface Restored {
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
