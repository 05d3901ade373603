/**
 * Checks a principal's access to the subject of a route. Anything out of reach gets the same error as
 * something that does not exist.
 */
import { checkpointNotFound } from '../../checkpoints/checkpoint-id.js';
import type { CheckpointService } from '../../checkpoints/checkpoint-service.js';
import { agentNotFound } from '../../memory/open-memory.js';
import { sessionNotFound } from '../../state/shared/sessions/session-tree.js';
import type { SharedSessions } from '../../state/shared/shared-sessions.js';
import { type Principal, reachesAgent, reachesRoot, reachesStore } from '../access/principal.js';
import { refused } from './problem.js';
import type { Route, RouteRequest, Services } from './route.js';

/** @throws AGENT_NOT_FOUND, SESSION_NOT_FOUND, CHECKPOINT_NOT_FOUND, REQUEST_REFUSED */
export async function assertReach(
  { reach, method }: Route,
  { principal, params }: RouteRequest,
  { shared, checkpoints }: Services,
): Promise<void> {
  const id = params['id'] ?? '';
  if (reach === 'agent' && !reachesAgent(principal, id)) throw agentNotFound(id);
  if (reach === 'session') await assertReachesSession(principal, shared, id);
  if (reach === 'checkpoint') await assertReachesCheckpoint(principal, checkpoints, id);
  if (reach === 'store' && !reachesStore(principal))
    throw outOfScope('This needs a token with access to everything (rekindle token create --everything).');
  if (method !== 'GET' && !principal.mayWrite) throw outOfScope('The token is read-only.');
}

/** @throws SESSION_NOT_FOUND */
export async function assertReachesSession(
  principal: Principal,
  { tree }: SharedSessions,
  id: string,
): Promise<void> {
  if (principal.roots === 'all') return;
  if (!reachesRoot(principal, await tree.rootOf(id))) throw sessionNotFound(id);
}

/**
 * A checkpoint belongs to the agent that it names. @throws CHECKPOINT_NOT_FOUND, and as
 * `CheckpointService.metadata`
 */
export async function assertReachesCheckpoint(
  principal: Principal,
  checkpoints: CheckpointService,
  checkpointId: string,
): Promise<void> {
  if (principal.agents === 'all') return;
  const { agentId } = await checkpoints.metadata({ checkpointId });
  if (!reachesAgent(principal, agentId)) throw checkpointNotFound(checkpointId);
}

export function outOfScope(detail: string): Error {
  return refused({ status: 403, reason: 'scope', detail });
}
