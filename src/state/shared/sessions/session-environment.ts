/**
 * How a child learns its session id: from the code that starts it, never from the model. A process gets it in
 * its environment, a client of the server in the header `X-Agent-Session-Id`.
 */
import { RekindleError } from '../../../core/errors.js';
import type { TreeSession } from './session-record.js';

/** Environment variable with the id of a process's own session. */
export const SESSION_VARIABLE = 'AGENT_SESSION_ID';
/** Environment variable with the id of its root session. */
export const ROOT_VARIABLE = 'AGENT_ROOT_SESSION_ID';
/** HTTP header with the session id of a client. */
export const SESSION_HEADER = 'X-Agent-Session-Id';

/** The variables to add to the environment of a child process. */
export function sessionEnvironment({ id, root }: Pick<TreeSession, 'id' | 'root'>): Record<string, string> {
  return { [SESSION_VARIABLE]: id, [ROOT_VARIABLE]: root };
}

/** Checks that the root in the environment is the root of the session. @throws INVALID_ARGUMENT */
export function assertRoot({ id, root }: Pick<TreeSession, 'id' | 'root'>, named: string): void {
  if (root === named) return;
  throw new RekindleError(
    'INVALID_ARGUMENT',
    `${ROOT_VARIABLE} names ${JSON.stringify(named)}, but the root of the session ${JSON.stringify(id)} is ${JSON.stringify(root)}.`,
    { details: { field: ROOT_VARIABLE, session: id, root, named } },
  );
}

/**
 * The session in the environment; null outside of a session. @throws INVALID_ARGUMENT if a root is set but no
 * session
 */
export function sessionFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): { readonly id: string; readonly root: string | null } | null {
  const id = environment[SESSION_VARIABLE] || null;
  const root = environment[ROOT_VARIABLE] || null;
  if (id !== null) return { id, root };
  if (root === null) return null;
  throw new RekindleError('INVALID_ARGUMENT', `${ROOT_VARIABLE} is set, and ${SESSION_VARIABLE} is not.`, {
    details: { field: SESSION_VARIABLE },
  });
}
