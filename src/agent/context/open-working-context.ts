/** The entry point for hosts with their own loop. */
import { agentExists, type MemoryOptions, openMemory, waitOptions } from '../../memory/open-memory.js';
import type { RestoreReport } from '../../memory/restore/restore-report.js';
import {
  WorkingContextSnapshotBootstrapOptions,
  type WorkingContextSnapshotBootstrapOptionsInit,
  WorkingContextSnapshotBootstrapper,
} from '../../memory/restore/working-context-snapshot-bootstrapper.js';
import type { Origin } from '../../messages/message.js';
import { resolveMemoryBaseDir } from '../../storage/memory-base-dir.js';
import { openStorage } from '../../storage/open-storage.js';
import type { StorageBackend } from '../../storage/ports.js';
import {
  type FromCheckpoint,
  type FromCheckpointInit,
  fromCheckpointOf,
} from '../checkpoints/from-checkpoint.js';
import { type CallLogging, CallRecorder } from '../tools/call-recorder.js';
import { DEFAULT_ORIGIN, WorkingContext } from './working-context.js';

/** Options of `openWorkingContext`. */
export interface WorkingContextOptions {
  readonly agentId: string;
  /** The current system prompt. Default: the agent's last one. */
  readonly system?: string;
  /**
   * Default: the file backend in `dir`, else in `REKINDLE_MEMORY_DIR`, else in `memory` below the current
   * folder.
   */
  readonly storage?: StorageBackend;
  /** Base folder of the file backend; used when `storage` is not set. */
  readonly dir?: string;
  readonly memory?: MemoryOptions;
  /** How long to wait while the agent is open elsewhere, in ms. Default 0: fail with LEASE_HELD at once. */
  readonly waitMs?: number;
  /** Ends that wait with ABORTED. */
  readonly signal?: AbortSignal;
  readonly restore?: WorkingContextSnapshotBootstrapOptionsInit;
  /** Begin from this checkpoint of an agent. The id must be new (else AGENT_EXISTS). */
  readonly fromCheckpoint?: FromCheckpointInit;
  /**
   * The provider and model that answer. Noted on each answer, so that a provider gets its own signed
   * reasoning back.
   */
  readonly origin?: Origin;
  /** Where the calls of guarded tools and of `runTool` are logged. Written when the turn ends. Default: nowhere. */
  readonly toolCallLog?: HostCallLogging;
}

/** A tool-call log of a host's loop. */
export interface HostCallLogging extends CallLogging {
  /** Called if a call cannot be logged. The turn goes on. */
  readonly onFailed?: (message: string) => void;
}

function recorderOf({ toolCallLog, agentId, memory }: WorkingContextOptions): CallRecorder | null {
  if (!toolCallLog) return null;
  return new CallRecorder(toolCallLog, agentId, toolCallLog.onFailed ?? (() => {}), memory?.clock);
}

/**
 * Opens an agent's working context for a host with its own loop. Restores the agent if it exists, else begins
 * it.
 *
 *     const ctx = await openWorkingContext({ agentId: 'support-42', system: 'You are ...' });
 *     await ctx.beginTurn(userText);
 *     const { response } = await generateText({ model, tools: ctx.guardTools(tools), messages: ctx.messagesFor('ai-sdk') });
 *     await ctx.endTurn(response.messages);
 *
 * With a provider's own client, build requests with `requestFor`, record answers with `recordResponse`, and
 * run calls with `runTool`.
 *
 * The input is durable before the model is called, each call before its tool starts, each result before the
 * model sees it, and the answer when `endTurn` resolves. A guarded tool never runs twice for one call.
 * @throws LEASE_HELD, ABORTED, CONTEXT_BLANK, ...
 */
export async function openWorkingContext(options: WorkingContextOptions): Promise<WorkingContext> {
  const storage = options.storage ?? openStorage(resolveMemoryBaseDir(options.dir));
  const { agentId, fromCheckpoint } = options;
  const memory: MemoryOptions = { ...options.memory, ...waitOptions(options) };
  // A backend that was opened for this context alone is closed with it.
  const closeOwn = async () => {
    if (!options.storage) await storage.close();
  };
  const open = () => openMemory(storage, agentId, memory);
  const branch = async (from: FromCheckpoint) => {
    // Loaded only here: most agents never need the code of checkpoints.
    const { openBranch } = await import('../checkpoints/begin-from-checkpoint.js');
    return openBranch(storage, agentId, from, open);
  };
  const opening = fromCheckpoint === undefined ? open() : branch(fromCheckpointOf(fromCheckpoint));
  const inner = await opening.catch(async (thrown: unknown) => {
    await closeOwn().catch(() => {}); // report the first error
    throw thrown;
  });
  const opened = { ...inner, close: () => inner.close().finally(closeOwn) };
  try {
    const existed = await agentExists(storage, agentId);
    const restored = await new WorkingContextSnapshotBootstrapper().bootstrap(
      opened.memory,
      options.system?.toWellFormed() ?? null,
      new WorkingContextSnapshotBootstrapOptions(options.restore),
    );
    const report: RestoreReport =
      fromCheckpoint === undefined ? restored : { ...restored, source: 'checkpoint' };
    const log = recorderOf(options);
    log?.recordInterrupted(report.interruptedCalls, opened.memory.context.messages);
    const origin = options.origin ?? DEFAULT_ORIGIN;
    const context = new WorkingContext(opened, report, !existed, origin, log);
    await context.loadArtifacts();
    return context;
  } catch (thrown) {
    await opened.close().catch(() => {}); // report the first error
    throw thrown;
  }
}
