/** A fork holds a copy of what its source had: an erasure that leaves it must be wanted. */
import { RekindleError } from '../../core/errors.js';
import { forksOf } from '../../memory/lineage/forked-from.js';
import { type ErasureTarget, isPart, readMarker, targetText } from '../../storage/erasure/erasure-marker.js';
import type { StorageBackend } from '../../storage/ports.js';

/**
 * Does nothing for an erasure that has begun. @param record the first record that is erased; default: all
 * @throws ERASURE_REFUSED with the ids of the forks
 */
export async function assertNoForks(
  backend: StorageBackend,
  target: ErasureTarget & { readonly agent: string },
  record = 0,
): Promise<void> {
  const forks = await forksOf(backend, target.agent, record);
  if (forks.length === 0 || (await readMarker(backend, target))) return;
  const what = isPart(target) ? targetText(target) : `agent ${JSON.stringify(target.agent)}`;
  const count = forks.length === 1 ? 'A fork holds a copy' : `${forks.length} forks hold copies`;
  throw new RekindleError('ERASURE_REFUSED', `${count} of the ${what}. Nothing was changed.`, {
    details: { agentId: target.agent, forks },
    advice:
      'Erase `details.forks`, or the part in them, first. If a fork stays, set keepForks (--keep-forks).',
  });
}
