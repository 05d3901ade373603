/** Makes agents. Construction only: nothing is read or written before `agent.start()`. */
import { systemClock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { agentExists } from '../../memory/open-memory.js';
import {
  WorkingContextSnapshotBootstrapOptions,
  type WorkingContextSnapshotBootstrapOptionsInit,
} from '../../memory/restore/working-context-snapshot-bootstrapper.js';
import { FileStorage } from '../../storage/file/file-storage.js';
import { encodeNameSegment } from '../../storage/name-encoding.js';
import type { StorageBackend } from '../../storage/ports.js';
import { Agent } from '../agent.js';
import type { BootstrapStep } from '../bootstrap-steps/bootstrap-step.js';
import { SystemPromptStep } from '../bootstrap-steps/system-prompt-step.js';
import { ToolsStep } from '../bootstrap-steps/tools-step.js';
import { WorkingContextSnapshotRestoreStep } from '../bootstrap-steps/working-context-snapshot-restore-step.js';
import { WorkspaceStep } from '../bootstrap-steps/workspace-step.js';
import { type FromCheckpointInit, fromCheckpointOf } from '../checkpoints/begin-from-checkpoint.js';
import type { AgentConfig } from '../context/agent-config.js';
import { AgentContext } from '../context/agent-context.js';
import { resolveMemoryBaseDir } from '../context/memory-base-dir.js';

export interface RestoreAgentOptions extends WorkingContextSnapshotBootstrapOptionsInit {
  /** Begin from this checkpoint, which holds an agent, under an id that is new. */
  readonly fromCheckpoint?: FromCheckpointInit;
}

export class AgentFactory {
  readonly #steps: readonly BootstrapStep[];

  /** @param steps another bootstrap, in order. Tools come first, so that a bad one leaves nothing on disk. */
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
    return new Agent(this.#contextFor(agentId, config, null), this.#steps);
  }

  /**
   * An agent whose process is gone. `start()` restores it (AGENT_NOT_FOUND when there is none) and `agent.restoreReport` says how.
   * With `fromCheckpoint` the agent begins from a checkpoint, under an id that is new (AGENT_EXISTS when it is not).
   * @param memoryDir base folder, in place of `config.memoryDir` and `config.storage`
   */
  restoreAgent(
    agentId: string,
    config: AgentConfig,
    memoryDir: string | null = null,
    { fromCheckpoint, ...options }: RestoreAgentOptions = {},
  ): Agent {
    const context = this.#contextFor(agentId, config, memoryDir);
    context.state.restoreOptions = new WorkingContextSnapshotBootstrapOptions(options);
    if (fromCheckpoint !== undefined) context.state.fromCheckpoint = fromCheckpointOf(fromCheckpoint);
    return new Agent(context, this.#steps);
  }

  /** The agent, started: restored when it exists, new when it does not. @throws what `start()` throws */
  async openAgent(agentId: string, config: Omit<AgentConfig, 'agentId'>): Promise<Agent> {
    const storage = storageFor(config, null);
    encodeNameSegment(agentId);
    const exists = await agentExists(storage, agentId);
    const opened = { ...config, storage };
    const agent = exists ? this.restoreAgent(agentId, opened) : this.createAgent({ ...opened, agentId });
    await agent.start();
    return agent;
  }

  #contextFor(agentId: string, config: AgentConfig, memoryDir: string | null): AgentContext {
    encodeNameSegment(agentId);
    if (typeof config?.model?.stream !== 'function') {
      throw new RekindleError('INVALID_ARGUMENT', 'An agent needs a model.', { details: { field: 'model' } });
    }
    return new AgentContext(agentId, config, storageFor(config, memoryDir));
  }
}

function storageFor(config: AgentConfig, memoryDir: string | null): StorageBackend {
  if (memoryDir === null && config.storage) return config.storage;
  return new FileStorage(resolveMemoryBaseDir(memoryDir ?? config.memoryDir));
}

const factory = new AgentFactory();

/** `new AgentFactory().createAgent(config)` for the usual bootstrap. */
export function createAgent(config: AgentConfig): Agent {
  return factory.createAgent(config);
}

/** `new AgentFactory().openAgent(...)` for the usual bootstrap: restores the agent, or begins it. */
export function openAgent(agentId: string, config: Omit<AgentConfig, 'agentId'>): Promise<Agent> {
  return factory.openAgent(agentId, config);
}

/** `new AgentFactory().restoreAgent(...)` for the usual bootstrap. */
export function restoreAgent(
  agentId: string,
  config: AgentConfig,
  memoryDir: string | null = null,
  options: RestoreAgentOptions = {},
): Agent {
  return factory.restoreAgent(agentId, config, memoryDir, options);
}
