/** Who asks, and what of the store they reach. It comes from a token or from the host's own authentication, never from what a client claims. */

/** What a principal reaches. Nothing named in `agents` and `roots`: no agent, no session. */
export interface TokenScope {
  /** Ids of the agents that can be reached: their memory, their checkpoints, their tools. */
  readonly agents: readonly string[] | 'all';
  /** Ids of the root sessions that can be reached, with their children and their shared state. */
  readonly roots: readonly string[] | 'all';
  /** The session that acts, whatever a header says. Null: a header may name one of the same root. */
  readonly session: string | null;
  readonly mayWrite: boolean;
}

export interface Principal extends TokenScope {
  /** For people who look back: the id of a token, or the name that the host gave. */
  readonly name: string;
}

/** Reaches everything: the token of the server itself. */
export const OWNER: Principal = {
  ...{ name: 'owner', agents: 'all', roots: 'all', session: null, mayWrite: true },
};

/** Where nobody is asked who they are: the health check and the page. */
export const NOBODY: Principal = {
  ...{ name: 'nobody', agents: [], roots: [], session: null, mayWrite: false },
};

export function reachesAgent({ agents }: Principal, agentId: string | null): boolean {
  return agents === 'all' || (agentId !== null && agents.includes(agentId));
}

export function reachesRoot({ roots }: Principal, root: string): boolean {
  return roots === 'all' || roots.includes(root);
}

/** What belongs to no agent and no session. */
export function reachesStore({ agents, roots }: Principal): boolean {
  return agents === 'all' && roots === 'all';
}
