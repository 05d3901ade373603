/** Why the signal of a turn aborts when its agent is stopped. */
export class AgentStopped extends Error {
  /** @param keepPendingApprovals calls that wait for an approval stay open for the next process */
  constructor(readonly keepPendingApprovals: boolean) {
    super('The agent was stopped.');
  }
}

/** True when the signal's abort leaves a call that waits for its approval open. */
export function keepsApprovals(signal: AbortSignal): boolean {
  return signal.aborted && signal.reason instanceof AgentStopped && signal.reason.keepPendingApprovals;
}
