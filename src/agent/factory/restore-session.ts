/** Brings the agents of a session back. */
import { RekindleError } from '../../core/errors.js';
import type { Session } from '../../workspace/sessions/session-manager.js';
import type { Agent } from '../agent.js';
import type { AgentConfig } from '../context/agent-config.js';
import { restoreAgent } from './agent-factory.js';

/**
 * The agents that a session knows, restored and started, by their names. When one cannot be started, those that were are stopped.
 * @param configFor what each agent runs with; not called for agents that the session does not know
 * @throws INVALID_ARGUMENT when two have one name, AGENT_NOT_FOUND, LEASE_HELD, and what else `start` throws
 */
export async function restoreSession(
  session: Session,
  configFor: (name: string, agentId: string) => AgentConfig,
): Promise<Map<string, Agent>> {
  const agents = new Map<string, Agent>();
  try {
    for (const { name, agentId } of session.agents) {
      if (agentId === '') throw noAgent(session.id, name);
      if (agents.has(name)) throw sameName(session.id, name);
      const agent = restoreAgent(agentId, configFor(name, agentId));
      await agent.start();
      agents.set(name, agent);
    }
    return agents;
  } catch (thrown) {
    await Promise.allSettled([...agents.values()].map((agent) => agent.stop()));
    throw thrown; // the first error is the one to tell
  }
}

function noAgent(session: string, name: string): RekindleError {
  return new RekindleError('AGENT_NOT_FOUND', `The session ${session} names no agent for ${name}.`, {
    details: { session, name },
  });
}

/** The session was edited by hand: which of the two is meant cannot be known. */
function sameName(session: string, name: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `The session ${session} has two agents of the name ${name}.`, {
    details: { session, name },
  });
}
