/**
 * The owner of a checkpoint. Room is made only among one owner's checkpoints: a save never removes those of
 * others.
 */
import type { CheckpointLabels, SaveRecord } from './checkpoint-record.js';

/** Prefix of sessions of tools; see `sessionPrefix`. */
const BOUND = /^(?:agent|session|client):[^:]*:/;

/**
 * The agent, else the owner that the session is bound to. Whole agents count separately from contexts of the
 * same agent.
 */
export function ownerOf(sessionId: string, { kind, agent }: CheckpointLabels): string {
  const name = agent === undefined ? (BOUND.exec(sessionId)?.[0] ?? sessionId) : agent;
  return JSON.stringify([kind ?? null, agent === undefined ? 'session' : 'agent', name]);
}

export function byOwner(sessionId: string, records: readonly SaveRecord[]): Map<string, SaveRecord[]> {
  const owners = new Map<string, SaveRecord[]>();
  for (const record of records) {
    const owner = ownerOf(sessionId, record);
    const own = owners.get(owner);
    if (own) own.push(record);
    else owners.set(owner, [record]);
  }
  return owners;
}
