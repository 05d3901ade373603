/** Takes the lease and opens the agent's folder. A new agent must not exist, a restored one must; one from a checkpoint is begun here. */
import { assertAgentExists, assertAgentIsNew, openMemory } from '../../memory/open-memory.js';
import {
  beginFromImage,
  type FromCheckpoint,
  isUnfinishedBranch,
  loadAgentImage,
} from '../checkpoints/begin-from-checkpoint.js';
import type { AgentContext } from '../context/agent-context.js';
import type { BootstrapStep } from './bootstrap-step.js';

export class WorkspaceStep implements BootstrapStep {
  readonly name = 'workspace';

  async execute(context: AgentContext): Promise<void> {
    const { agentId, storage, state } = context;
    if (state.fromCheckpoint !== null) return this.#branch(context, state.fromCheckpoint);
    const restoring = state.restoreOptions !== null;
    // Before the lease: a wrong id must leave nothing behind.
    await (restoring ? assertAgentExists(storage, agentId) : assertAgentIsNew(storage, agentId));
    await this.#open(context);
    if (!restoring) await assertAgentIsNew(storage, agentId); // another process may have been first
  }

  async #branch(context: AgentContext, from: FromCheckpoint): Promise<void> {
    const { agentId, storage } = context;
    const assertIsNew = async () => {
      if (!(await isUnfinishedBranch(storage, agentId))) await assertAgentIsNew(storage, agentId);
    };
    await assertIsNew();
    const image = await loadAgentImage(storage, from);
    await this.#open(context);
    await assertIsNew();
    await beginFromImage(context.memory, image, from.checkpointId);
  }

  async #open({ agentId, config, storage, state }: AgentContext): Promise<void> {
    const clock = config.clock ? { clock: config.clock } : {};
    state.memory = await openMemory(storage, agentId, { ...clock, ...config.memory });
  }
}
