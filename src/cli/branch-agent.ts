/** `--from-checkpoint`: begins a new agent from a checkpoint of another agent or of its own past. */
import { restoreAgent } from '../agent/factory/agent-factory.js';
import { OfflineModel } from '../agent/model/offline-model.js';
import type { RestoreReport } from '../memory/restore/restore-report.js';
import { checkpointsFor, lookedUp } from './checkpoint-place.js';
import type { CommandContext, CommonOptions } from './command-context.js';
import type { FromCheckpointOptions } from './from-checkpoint-options.js';

/**
 * Durable when it resolves. @throws AGENT_EXISTS, CHECKPOINT_NOT_FOUND, INVALID_ARGUMENT for a checkpoint
 * without an agent
 */
export async function branchAgent(
  context: CommandContext,
  options: CommonOptions & FromCheckpointOptions,
  agentId: string,
  checkpointId: string,
): Promise<RestoreReport> {
  const service = checkpointsFor(context);
  const { trustContext = false } = options;
  try {
    const config = { model: new OfflineModel(), storage: context.storage };
    const fromCheckpoint = { checkpointId, service, trustContext };
    const agent = restoreAgent(agentId, config, null, { fromCheckpoint });
    await lookedUp(options, () => agent.start());
    const report = agent.restoreReport!;
    await agent.stop();
    return report;
  } finally {
    await service.close();
  }
}
