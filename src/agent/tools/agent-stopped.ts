/** The reason with which a turn's signal aborts when its agent is stopped. */
export class AgentStopped extends Error {
  /** @param keepPendingApprovals leave calls that wait for an approval open for the next process */
  constructor(readonly keepPendingApprovals: boolean) {
    super('The agent was stopped.');
  }
}

/** True if the abort leaves a call open that waits for its approval. */
export function keepsApprovals(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason instanceof AgentStopped && signal.reason.keepPendingApprovals;
}
