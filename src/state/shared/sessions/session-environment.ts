/**
 * How a child learns which session it is: from whoever started it, never from the model.
 *
 * A process has it in its environment, a client of the server in the header `X-Agent-Session-Id`.
 */
import { RekindleError } from '../../../core/errors.js';
import type { TreeSession } from './session-record.js';

export const SESSION_VARIABLE = 'AGENT_SESSION_ID';
export const ROOT_VARIABLE = 'AGENT_ROOT_SESSION_ID';
export const SESSION_HEADER = 'X-Agent-Session-Id';

/** To be added to the environment of a child's process. */
export function sessionEnvironment({ id, root }: Pick<TreeSession, 'id' | 'root'>): Record<string, string> {
  return { [SESSION_VARIABLE]: id, [ROOT_VARIABLE]: root };
}

/** That the root which the environment names is that of the session. @throws INVALID_ARGUMENT */
export function assertRoot({ id, root }: Pick<TreeSession, 'id' | 'root'>, named: string): void {
  if (root === named) return;
  throw new RekindleError(
    'INVALID_ARGUMENT',
    `${ROOT_VARIABLE} names ${JSON.stringify(named)}, but the root of the session ${JSON.stringify(id)} is ${JSON.stringify(root)}.`,
    { details: { field: ROOT_VARIABLE, session: id, root, named } },
  );
}

/** Null outside of any session. @throws INVALID_ARGUMENT when there is a root and no session */
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
