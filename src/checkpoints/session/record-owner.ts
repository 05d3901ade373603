/** Whose a checkpoint is. Room is made among one owner's checkpoints: what one saves never pushes out what another saved. */
import type { CheckpointLabels, SaveRecord } from './checkpoint-record.js';

/** What the sessions of tools begin with: see `sessionPrefix`. */
const BOUND = /^(?:agent|session|client):[^:]*:/;

/** The agent, else whoever the session is bound to. Whole agents count apart from contexts that the same agent saved. */
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
