/** The precondition of a patch on the global version. */
import { RekindleError } from '../../core/errors.js';
import { assertVersionNumber } from './shared-limits.js';

export interface PatchOptions {
  /** The acting session. Default `unknown`. */
  readonly by?: string;
  /** Refuse with DOCUMENT_CONFLICT if anything changed since this version. For a list: since each of them. */
  readonly ifGlobalVersion?: number | readonly number[];
}

/**
 * Returns a check that throws for a state at another version. @throws INVALID_ARGUMENT at once for an invalid
 * version
 */
export function globalVersionCheck({ ifGlobalVersion }: PatchOptions): (globalVersion: number) => void {
  if (ifGlobalVersion === undefined) return () => {};
  const wanted = [ifGlobalVersion].flat();
  for (const version of wanted) assertVersionNumber('ifGlobalVersion', version);
  return (globalVersion) => {
    if (wanted.includes(globalVersion)) return;
    throw new RekindleError('DOCUMENT_CONFLICT', `The state is now at version ${globalVersion}.`, {
      details: { currentVersion: globalVersion, ifVersion: wanted.length === 1 ? wanted[0]! : wanted },
    });
  };
}
