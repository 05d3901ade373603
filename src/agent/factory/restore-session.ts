import { RekindleError } from '../../core/errors.js';
import type { Session } from '../../workspace/sessions/session-manager.js';
import type { Agent } from '../agent.js';
import type { AgentConfig } from '../context/agent-config.js';
import { restoreAgent } from './agent-factory.js';

/**
 * Restores and starts all agents of a session, by name. If one cannot be started, those already started are
 * stopped.
 * @param configFor returns the configuration of each agent; called only for agents of the session
 * @throws INVALID_ARGUMENT if two agents have one name, AGENT_NOT_FOUND, LEASE_HELD, and what else `start`
 * throws
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
    throw thrown; // report the first error
  }
}

function noAgent(session: string, name: string): RekindleError {
  return new RekindleError('AGENT_NOT_FOUND', `The session ${session} names no agent for ${name}.`, {
    details: { session, name },
  });
}

/** The session was edited by hand, so it is ambiguous which of the two is intended. */
function sameName(session: string, name: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `The session ${session} has two agents of the name ${name}.`, {
    details: { session, name },
  });
}
