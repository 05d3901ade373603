import { systemClock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { agentExists } from '../../memory/open-memory.js';
import type { WorkingContextSnapshotBootstrapOptionsInit } from '../../memory/restore/working-context-snapshot-bootstrapper.js';
import { resolveMemoryBaseDir } from '../../storage/memory-base-dir.js';
import { encodeNameSegment } from '../../storage/name-encoding.js';
import { openStorage } from '../../storage/open-storage.js';
import type { StorageBackend } from '../../storage/ports.js';
import { Agent } from '../agent.js';
import type { BootstrapStep } from '../bootstrap-steps/bootstrap-step.js';
import { SystemPromptStep } from '../bootstrap-steps/system-prompt-step.js';
import { ToolsStep } from '../bootstrap-steps/tools-step.js';
import { WorkingContextSnapshotRestoreStep } from '../bootstrap-steps/working-context-snapshot-restore-step.js';
import { WorkspaceStep } from '../bootstrap-steps/workspace-step.js';
import { type FromCheckpointInit, fromCheckpointOf } from '../checkpoints/from-checkpoint.js';
import type { AgentConfig } from '../context/agent-config.js';
import { AgentContext } from '../context/agent-context.js';

/** Options of `restoreAgent`. */
export interface RestoreAgentOptions extends WorkingContextSnapshotBootstrapOptionsInit {
  /** Begin from this checkpoint of an agent. The id must be new. */
  readonly fromCheckpoint?: FromCheckpointInit;
}

/** Makes agents. Reads and writes nothing before `agent.start()`. */
export class AgentFactory {
  readonly #steps: readonly BootstrapStep[];

  /**
   * @param steps a custom bootstrap, in order. Tools come first, so that an invalid one leaves nothing on
   * disk.
   */
  constructor(steps?: readonly BootstrapStep[]) {
    this.#steps = steps ?? [
      new ToolsStep(),
      new SystemPromptStep(),
      new WorkspaceStep(),
      new WorkingContextSnapshotRestoreStep(),
    ];
  }

  /** A new agent. `start()` rejects with AGENT_EXISTS when the id is taken. @throws INVALID_NAME, INVALID_ARGUMENT */
  createAgent(config: AgentConfig): Agent {
    const agentId = config.agentId ?? newId(config.name ?? 'agent', (config.clock ?? systemClock).nowMs());
    return this.#create(agentId, config, storeFor(config, null));
  }

  #create(agentId: string, config: AgentConfig, store: Store): Agent {
    return new Agent(contextFor(agentId, config, store), this.#steps);
  }

  /**
   * An agent whose process has ended. `start()` restores it (AGENT_NOT_FOUND if it does not exist), and
   * `agent.restoreReport` reports how. With `fromCheckpoint` the agent begins from a checkpoint, under a new
   * id (else AGENT_EXISTS).
   * @param memoryDir base folder; replaces `config.memoryDir` and `config.storage`
   */
  restoreAgent(
    agentId: string,
    config: AgentConfig,
    memoryDir: string | null = null,
    options: RestoreAgentOptions = {},
  ): Agent {
    return this.#restore(agentId, config, storeFor(config, memoryDir), options);
  }

  #restore(
    agentId: string,
    config: AgentConfig,
    store: Store,
    { fromCheckpoint, ...options }: RestoreAgentOptions,
  ): Agent {
    const context = contextFor(agentId, config, store);
    context.state.restoreOptions = options;
    if (fromCheckpoint !== undefined) context.state.fromCheckpoint = fromCheckpointOf(fromCheckpoint);
    return new Agent(context, this.#steps);
  }

  /**
   * A started agent: restored if it exists, else new. @throws what `start()` throws
   * @param options of the restore, if there is one
   */
  async openAgent(
    agentId: string,
    config: Omit<AgentConfig, 'agentId'>,
    options: WorkingContextSnapshotBootstrapOptionsInit = {},
  ): Promise<Agent> {
    encodeNameSegment(agentId);
    const store = storeFor(config, null);
    const exists = await agentExists(store.storage, agentId);
    const agent = exists
      ? this.#restore(agentId, config, store, options)
      : this.#create(agentId, { ...config, agentId }, store);
    await agent.start();
    return agent;
  }
}

/** The storage of an agent. A backend opened for this agent alone is closed with it. */
interface Store {
  readonly storage: StorageBackend;
  readonly isOwn: boolean;
}

function storeFor(config: AgentConfig, memoryDir: string | null): Store {
  if (memoryDir === null && config.storage) return { storage: config.storage, isOwn: false };
  return { storage: openStorage(resolveMemoryBaseDir(memoryDir ?? config.memoryDir)), isOwn: true };
}

function contextFor(agentId: string, config: AgentConfig, store: Store): AgentContext {
  encodeNameSegment(agentId);
  if (typeof config?.model?.stream !== 'function') {
    throw new RekindleError('INVALID_ARGUMENT', 'An agent needs a model.', { details: { field: 'model' } });
  }
  return new AgentContext(agentId, config, store.storage, store.isOwn);
}

const factory = new AgentFactory();

/** Makes a new agent. Call `start()` on it. Same as `new AgentFactory().createAgent(config)`. */
export function createAgent(config: AgentConfig): Agent {
  return factory.createAgent(config);
}

/**
 * Restores the agent if it exists, else begins it, and starts it. Same as `new
 * AgentFactory().openAgent(...)`.
 */
export function openAgent(
  agentId: string,
  config: Omit<AgentConfig, 'agentId'>,
  options?: WorkingContextSnapshotBootstrapOptionsInit,
): Promise<Agent> {
  return factory.openAgent(agentId, config, options);
}

/** Makes an agent that `start()` restores. Same as `new AgentFactory().restoreAgent(...)`. */
export function restoreAgent(
  agentId: string,
  config: AgentConfig,
  memoryDir: string | null = null,
  options: RestoreAgentOptions = {},
): Agent {
  return factory.restoreAgent(agentId, config, memoryDir, options);
}
