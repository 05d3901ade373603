/** What the campaign knows of an agent from its owners' own words: to be held against what is stored. */
import type { HeardOf } from './host.js';

/** One ownership: from a restore to the next. */
export interface Ownership {
  readonly tag: string;
  /** The number of the last trace when it was restored. */
  readonly headAtStart: number;
  readonly restored: HeardOf<'restored'>;
}

export class Owners {
  readonly agentId: string;
  /** In order; the last one owns the agent now. */
  readonly list: Ownership[] = [];
  readonly acks: HeardOf<'ack'>[] = [];

  constructor(agentId: string) {
    this.agentId = agentId;
  }

  /** The last trace that an owner can have written; infinite for the one that owns it now. */
  lastOf(tag: string): number {
    const next = this.list.findIndex((owner) => owner.tag === tag) + 1;
    return this.list[next]?.headAtStart ?? Number.POSITIVE_INFINITY;
  }
}
