/** Helpers to read a shared state's history, and to continue after damage. No I/O. */
import { randomBytes } from 'node:crypto';
import { RekindleError } from '../../core/errors.js';
import type { Name } from '../../storage/ports.js';
import type { Commit, StateImage } from './shared-record.js';

export function newRecordId(): string {
  return randomBytes(6).toString('base64url');
}

/** Whole commits that end at or before a version. */
export function fitting(from: number, to: number): (commit: Commit) => boolean {
  let reached = from;
  return ({ changes }) => {
    reached += changes.length;
    return reached <= to;
  };
}

export function raised(image: StateImage, lost: number): StateImage {
  return {
    ...image,
    recovered: true,
    historyFrom: image.globalVersion + lost,
    globalVersion: image.globalVersion + lost,
    versionFloor: image.versionFloor + lost,
    keys: image.keys.map((state) => ({ ...state, version: state.version + lost })),
    earlier: [],
  };
}

export function historyGone(name: Name, wanted: number, oldest: number): RekindleError {
  const text = `Version ${wanted} of ${name.join('/')} was removed; the oldest that is there is ${oldest}.`;
  return new RekindleError('HISTORY_GONE', text, { details: { name: [...name], wanted, oldest } });
}
