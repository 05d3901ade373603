/** One step of an agent's start. Contract: idempotent on failure; the agent closes what earlier steps opened. */
import type { AgentContext } from '../context/agent-context.js';

export interface BootstrapStep {
  readonly name: string;
  execute(context: AgentContext): Promise<void>;
}
