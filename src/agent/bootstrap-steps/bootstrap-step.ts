import type { AgentContext } from '../context/agent-context.js';

/**
 * One step of an agent's start. After a failure it must be safe to run again; the agent closes what earlier
 * steps opened.
 */
export interface BootstrapStep {
  readonly name: string;
  execute(context: AgentContext): Promise<void>;
}
