import type { AgentTiming, EntryIndex } from './entry-index.js';

/** When the agents of a workspace wrote, and how often. */
export interface TimingMetrics {
  readonly totalWrites: number;
  readonly agentsInvolved: readonly string[];
  /** From the first write to the last. */
  readonly durationSeconds: number;
  readonly byAgent: { readonly [agent: string]: AgentTiming };
}

/** Computes the metrics of a workspace. */
export function timingOf({ agents }: EntryIndex): TimingMetrics {
  const names = [...agents.keys()].sort();
  const all = [...agents.values()];
  const times = all.flatMap(({ firstAt, lastAt }) => [Date.parse(firstAt), Date.parse(lastAt)]);
  return {
    totalWrites: all.reduce((sum, { writes }) => sum + writes, 0),
    agentsInvolved: names,
    durationSeconds: times.length === 0 ? 0 : (Math.max(...times) - Math.min(...times)) / 1000,
    byAgent: Object.fromEntries(names.map((name) => [name, agents.get(name)!])),
  };
}
