/**
 * The working context for hosts with their own loop.
 *
 *     const ctx = await openWorkingContext({ agentId: 'support-42', system: 'You are ...' });
 *     await ctx.beginTurn(userText);
 *     const { response } = await generateText({ model, tools: ctx.guardTools(tools), messages: ctx.messagesFor('ai-sdk') });
 *     await ctx.endTurn(response.messages);
 *
 * The input is durable before the model is called, each call before its tool starts, each result before the model sees it,
 * the answer when `endTurn` resolves. A guarded tool never runs twice for one call.
 */
import { RekindleError } from '../../core/errors.js';
import type { UserInput } from '../../memory/memory-input.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import {
  agentExists,
  type MemoryOptions,
  type OpenMemory,
  openMemory,
  waitOptions,
} from '../../memory/open-memory.js';
import type { RestoreReport } from '../../memory/restore/restore-report.js';
import {
  WorkingContextSnapshotBootstrapOptions,
  type WorkingContextSnapshotBootstrapOptionsInit,
  WorkingContextSnapshotBootstrapper,
} from '../../memory/restore/working-context-snapshot-bootstrapper.js';
import type { Message, Origin } from '../../messages/message.js';
import type { AiSdkMessage } from '../../messages/projections/ai-sdk.js';
import { project, type RequestOf } from '../../messages/projections/project.js';
import type { Projection, ProjectionTarget } from '../../messages/projections/projection.js';
import type { TargetName } from '../../messages/projections/targets.js';
import { resolveMemoryBaseDir } from '../../storage/memory-base-dir.js';
import { openStorage } from '../../storage/open-storage.js';
import type { StorageBackend } from '../../storage/ports.js';
import {
  type FromCheckpointInit,
  fromCheckpointOf,
  openBranch,
} from '../checkpoints/begin-from-checkpoint.js';
import { artifactsOf } from '../model/artifacts.js';
import { closeOpenCalls } from '../tools/close-open-calls.js';
import { type GuardableTools, guardTools } from '../tools/guard-tools.js';
import { HostTurn } from './host-turn.js';

export interface WorkingContextOptions {
  readonly agentId: string;
  /** The current system prompt. Left out: the one that the agent had. */
  readonly system?: string;
  /** Default: the file backend in `dir`, else `REKINDLE_MEMORY_DIR`, else `memory` below the current folder. */
  readonly storage?: StorageBackend;
  readonly dir?: string;
  readonly memory?: MemoryOptions;
  /** How long to wait, in line, while the agent is open elsewhere, in milliseconds. Default 0: LEASE_HELD at once. */
  readonly waitMs?: number;
  /** Ends that wait with ABORTED. */
  readonly signal?: AbortSignal;
  readonly restore?: WorkingContextSnapshotBootstrapOptionsInit;
  /** Begin from this checkpoint, which holds an agent: under an id that is new (AGENT_EXISTS when it is not). */
  readonly fromCheckpoint?: FromCheckpointInit;
  /** Who answers; noted on answers, and gets its own signed reasoning back. */
  readonly origin?: Origin;
}

/** Opens an agent's context: restores it when it exists, begins it when it does not. @throws LEASE_HELD, ABORTED, CONTEXT_BLANK, ... */
export async function openWorkingContext(options: WorkingContextOptions): Promise<WorkingContext> {
  const storage = options.storage ?? openStorage(resolveMemoryBaseDir(options.dir));
  const { agentId, fromCheckpoint } = options;
  const memory: MemoryOptions = { ...options.memory, ...waitOptions(options) };
  // What was opened for this context alone is closed with it.
  const closeOwn = async () => {
    if (!options.storage) await storage.close();
  };
  const open = () => openMemory(storage, agentId, memory);
  const opening =
    fromCheckpoint === undefined
      ? open()
      : openBranch(storage, agentId, fromCheckpointOf(fromCheckpoint), open);
  const inner = await opening.catch(async (thrown: unknown) => {
    await closeOwn().catch(() => {}); // the first error is the one to tell
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
    const context = new WorkingContext(opened, report, !existed, options.origin ?? { provider: 'ai-sdk' });
    await context.loadArtifacts();
    return context;
  } catch (thrown) {
    await opened.close().catch(() => {}); // the first error is the one to tell
    throw thrown;
  }
}

export class WorkingContext {
  /** What opening found and did. */
  readonly report: RestoreReport;
  /** The agent did not exist before. */
  readonly isNew: boolean;
  readonly #opened: OpenMemory;
  readonly #origin: Origin;
  #artifacts: ReadonlyMap<string, Uint8Array> = new Map();
  #turn: HostTurn | null = null;

  constructor(opened: OpenMemory, report: RestoreReport, isNew: boolean, origin: Origin) {
    this.#opened = opened;
    this.report = report;
    this.isNew = isNew;
    this.#origin = origin;
  }

  get memory(): MemoryManager {
    return this.#opened.memory;
  }

  get messages(): Message[] {
    return this.memory.getWorkingContextMessages();
  }

  /** Durable when it resolves. @throws AGENT_STATE while a turn is open */
  async beginTurn(input: UserInput | string): Promise<string> {
    if (this.#turn) {
      throw new RekindleError('AGENT_STATE', 'A turn is open. Call endTurn() first.', {
        details: { turnId: this.#turn.turnId },
      });
    }
    await closeOpenCalls(this.memory);
    const turnId = this.memory.startTurn();
    await this.memory.ingestUserMessage(input, turnId);
    this.#turn = new HostTurn(this.memory, turnId, this.#origin);
    await this.loadArtifacts();
    return turnId;
  }

  /** Goes on with the turn that a crash interrupted, without a new input. @throws AGENT_STATE when there is none */
  resumeTurn(): string {
    const { kind, turnId } = this.memory.frontier;
    if (kind === 'idle' || this.#turn) {
      throw new RekindleError('AGENT_STATE', 'No turn was interrupted.', { details: { frontier: kind } });
    }
    this.#turn = new HostTurn(this.memory, turnId ?? this.memory.startTurn(), this.#origin);
    return this.#turn.turnId;
  }

  /** The request's messages. Call it anew for each request: it is cheap. */
  messagesFor(target: 'ai-sdk'): AiSdkMessage[] {
    return this.requestFor(target, { ending: 'as-is' }).request.messages;
  }

  /** The whole request as a provider's own API takes it, with notes on what could not go as it is. Nothing is written. */
  requestFor<Name extends TargetName>(
    name: Name,
    target: ProjectionTarget = {},
  ): Projection<RequestOf<Name>> {
    const own = name === 'ai-sdk' ? this.#origin : {};
    return project(name, this.messages, { ...own, artifacts: this.#artifacts, ...target });
  }

  /** The same tools, each call in the ledger before it starts and its result in the traces before the model sees it. */
  guardTools<Tools extends GuardableTools>(tools: Tools): Tools {
    return guardTools(tools, this.memory, () => this.#openTurn());
  }

  /** For `onStepFinish`: what a step said is durable when the step ends, not only when the turn does. */
  readonly step = async (step: {
    readonly response: { readonly messages: readonly unknown[] };
  }): Promise<void> => {
    await this.#openTurn().ingest(step.response.messages);
  };

  /** Durable when it resolves; then the cache is current. @throws MESSAGE_INVALID, and what the journal throws */
  async endTurn(responseMessages: readonly unknown[]): Promise<void> {
    const turn = this.#openTurn();
    await turn.ingest(responseMessages);
    this.#turn = null;
    await this.memory.endTurn();
  }

  /** Gives the turn up: what is durable stays, and the next request may follow. Calls without a result get one. */
  async abandonTurn(): Promise<void> {
    this.#turn = null;
    const results = this.memory.openCalls().map(({ call, turnId }) => ({
      callId: call.id,
      toolName: call.name,
      ...(turnId === undefined ? {} : { turnId }),
      error: 'Cancelled by the host, so its outcome is unknown. Check its effects before you repeat it.',
      synthetic: true,
    }));
    await this.memory.ingestToolResults(results, '');
    await this.memory.endTurn();
  }

  /** Flushes and lets the agent go, so that another process can open it at once. */
  async close(): Promise<void> {
    await this.#opened.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async loadArtifacts(): Promise<void> {
    this.#artifacts = await artifactsOf(this.messages, (ref) => this.memory.getArtifact(ref));
  }

  #openTurn(): HostTurn {
    if (this.#turn) return this.#turn;
    throw new RekindleError('AGENT_STATE', 'No turn is open. Call beginTurn() first.', { details: {} });
  }
}
