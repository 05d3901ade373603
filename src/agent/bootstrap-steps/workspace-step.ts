import { assertAgentExists, assertAgentIsNew, openMemory, waitOptions } from '../../memory/open-memory.js';
import type { AgentContext } from '../context/agent-context.js';
import type { BootstrapStep } from './bootstrap-step.js';

/**
 * Takes the lease and opens the agent's memory. Also begins an agent from a checkpoint.
 * @throws AGENT_EXISTS for a new agent, AGENT_NOT_FOUND for a restored one, LEASE_HELD
 */
export class WorkspaceStep implements BootstrapStep {
  readonly name = 'workspace';

  async execute({ agentId, config, storage, state }: AgentContext): Promise<void> {
    const clock = config.clock ? { clock: config.clock } : {};
    const open = () => openMemory(storage, agentId, { ...clock, ...config.memory, ...waitOptions(config) });
    if (state.fromCheckpoint !== null) {
      // Loaded only here: most agents never need the code of checkpoints.
      const { openBranch } = await import('../checkpoints/begin-from-checkpoint.js');
      state.memory = await openBranch(storage, agentId, state.fromCheckpoint, open);
      return;
    }
    const restoring = state.restoreOptions !== null;
    // Before the lease: a wrong id must leave nothing behind.
    await (restoring ? assertAgentExists(storage, agentId) : assertAgentIsNew(storage, agentId));
    state.memory = await open();
    if (!restoring) await assertAgentIsNew(storage, agentId); // another process may have been first
  }
}
