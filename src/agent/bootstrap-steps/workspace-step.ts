/** Takes the lease and opens the agent's folder. A new agent must not exist, a restored one must. */
import { assertAgentExists, assertAgentIsNew, openMemory } from '../../memory/open-memory.js';
import type { AgentContext } from '../context/agent-context.js';
import type { BootstrapStep } from './bootstrap-step.js';

export class WorkspaceStep implements BootstrapStep {
  readonly name = 'workspace';

  async execute({ agentId, config, storage, state }: AgentContext): Promise<void> {
    const restoring = state.restoreOptions !== null;
    // Before the lease: a wrong id must leave nothing behind.
    await (restoring ? assertAgentExists(storage, agentId) : assertAgentIsNew(storage, agentId));
    const clock = config.clock ? { clock: config.clock } : {};
    state.memory = await openMemory(storage, agentId, { ...clock, ...config.memory });
    if (!restoring) await assertAgentIsNew(storage, agentId); // another process may have been first
  }
}
