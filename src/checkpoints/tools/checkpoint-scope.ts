/** The sessions that the checkpoint tools can reach: those of one owner, which the host sets. */
import { hash } from 'node:crypto';

/**
 * The owner of checkpoints that the tools save. `all` reaches the plain checkpoints of every session in the
 * store: use it only for a model that may read all of them.
 */
export type CheckpointScope =
  | { readonly agent: string }
  | { readonly session: string }
  /** Clients that are neither. */
  | { readonly client: string }
  | 'all';

/** Longer owner names are replaced by their digest, because session ids are short. */
const OWNER_BYTES_MAX = 48;

/**
 * The prefix of an owner's sessions, such as `agent:desk:`. No prefix is the beginning of another one,
 * because an escaped owner name has no colon.
 */
export function sessionPrefix(scope: CheckpointScope): string {
  if (scope === 'all') return '';
  const [[kind, owner] = ['', '']] = Object.entries(scope);
  const escaped = encodeURIComponent(owner.toWellFormed());
  return `${kind}:${escaped.length > OWNER_BYTES_MAX ? hash('sha256', owner, 'hex').slice(0, 32) : escaped}:`;
}
