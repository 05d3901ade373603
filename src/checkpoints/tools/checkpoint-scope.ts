/** Which sessions the checkpoint tools reach: those of one owner. Whoever mounts the tools says who that is. */
import { hash } from 'node:crypto';

/**
 * The owner of what the tools save. `all` reaches the plain checkpoints of every session in the store: mount that only for a model that
 * may read what all others saved.
 */
export type CheckpointScope =
  | { readonly agent: string }
  | { readonly session: string }
  /** Clients that are neither. */
  | { readonly client: string }
  | 'all';

/** Longer owners are named by their digest: a session id has little room. */
const OWNER_BYTES_MAX = 48;

/**
 * What the sessions of an owner begin with, such as `agent:desk:`. No owner's prefix begins another's: an owner's name has no colon once
 * it is escaped.
 */
export function sessionPrefix(scope: CheckpointScope): string {
  if (scope === 'all') return '';
  const [[kind, owner] = ['', '']] = Object.entries(scope);
  const escaped = encodeURIComponent(owner.toWellFormed());
  return `${kind}:${escaped.length > OWNER_BYTES_MAX ? hash('sha256', owner, 'hex').slice(0, 32) : escaped}:`;
}
