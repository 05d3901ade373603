/**
 * The caller of a request and its rights. They come from a token or from the host's own authentication, never
 * from a client's claims.
 */

/** The rights of a principal. Empty lists: no agent, no session. */
export interface TokenScope {
  /** Ids of accessible agents: their memory, checkpoints and tools. */
  readonly agents: readonly string[] | 'all';
  /** Ids of accessible root sessions, with their children and shared state. */
  readonly roots: readonly string[] | 'all';
  /**
   * The session that the caller acts as, whatever a header says. Null: a header may name a session of an
   * accessible root.
   */
  readonly session: string | null;
  readonly mayWrite: boolean;
}

/** An authenticated caller with its rights. */
export interface Principal extends TokenScope {
  /** For logs: the id of a token, or the name that the host returned. */
  readonly name: string;
}

/** The owner of the server's own token, with access to everything. */
export const OWNER: Principal = {
  ...{ name: 'owner', agents: 'all', roots: 'all', session: null, mayWrite: true },
};

/** For public paths: the health check and the page. */
export const NOBODY: Principal = {
  ...{ name: 'nobody', agents: [], roots: [], session: null, mayWrite: false },
};

export function reachesAgent({ agents }: Principal, agentId: string | null): boolean {
  return agents === 'all' || (agentId !== null && agents.includes(agentId));
}

export function reachesRoot({ roots }: Principal, root: string): boolean {
  return roots === 'all' || roots.includes(root);
}

/** Access to data that belongs to no agent and no session. */
export function reachesStore({ agents, roots }: Principal): boolean {
  return agents === 'all' && roots === 'all';
}
