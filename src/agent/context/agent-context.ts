import { RekindleError } from '../../core/errors.js';
import type { OpenMemory } from '../../memory/open-memory.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { ToolRegistry } from '../tools/tool-registry.js';
import type { AgentConfig } from './agent-config.js';
import { AgentRuntimeState } from './agent-runtime-state.js';

/** What the bootstrap steps work with: the configuration, the storage, and the state that they fill in. */
export class AgentContext {
  readonly agentId: string;
  readonly config: AgentConfig;
  readonly storage: StorageBackend;
  /** The storage was opened for this agent alone, so it is closed with it. */
  readonly ownsStorage: boolean;
  readonly state = new AgentRuntimeState();

  constructor(agentId: string, config: AgentConfig, storage: StorageBackend, ownsStorage: boolean) {
    this.agentId = agentId;
    this.config = config;
    this.storage = storage;
    this.ownsStorage = ownsStorage;
  }

  get memory(): OpenMemory['memory'] {
    return this.#require(this.state.memory, 'memory').memory;
  }

  get registry(): ToolRegistry {
    return this.#require(this.state.registry, 'tools');
  }

  /** Closes the memory, and the storage when the agent owns it. */
  async close(): Promise<void> {
    try {
      await this.state.memory?.close();
    } finally {
      if (this.ownsStorage) await this.storage.close();
    }
  }

  #require<T>(value: T | null, what: string): T {
    if (value !== null) return value;
    throw new RekindleError(
      'AGENT_STATE',
      `The agent ${this.agentId} has no ${what} yet. Call start() first.`,
      {
        details: { agentId: this.agentId, status: 'created' },
      },
    );
  }
}
