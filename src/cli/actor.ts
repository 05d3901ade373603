/** Who makes a change at the command line: what the process proves, not a name that its user types. */
import { hostname } from 'node:os';
import { personActor } from '../state/shared/person-actor.js';
import { assertRoot, sessionFromEnvironment } from '../state/shared/sessions/session-environment.js';
import type { SessionTree } from '../state/shared/sessions/session-tree.js';
import { accountName } from './account-name.js';

/**
 * The author of changes in the state of a root. Inside of an agent's session it is that session, which the
 * program that started the process names. Otherwise it is the account of the operating system.
 * @throws SESSION_NOT_FOUND, INVALID_ARGUMENT for a session of another root
 */
export async function actorFor(tree: SessionTree, root: string): Promise<string> {
  const given = sessionFromEnvironment(process.env);
  if (given === null) return personActor(accountName(), hostname());
  const session = await tree.require(given.id);
  if (given.root !== null) assertRoot(session, given.root);
  assertRoot(session, root);
  return session.id;
}
