/**
 * The default memory location: `REKINDLE_MEMORY_DIR`, else `AUTOBYTEUS_MEMORY_DIR`, else what `STORAGE_BACKEND` and its
 * variables name, else `memory`. A folder, or the URL of a store.
 */
import path from 'node:path';
import { RekindleError } from '../core/errors.js';
import { isStorageUrl } from './open-storage.js';

/** The folder of `STORAGE_BACKEND=local` without `WORKSPACE_PATH`. */
const LOCAL_FOLDER = '.claude/workspace';
const VOLUME = ['UC_CATALOG', 'UC_SCHEMA', 'UC_VOLUME'] as const;

/** @throws INVALID_ARGUMENT if `STORAGE_BACKEND=uc_volumes` lacks a variable */
export function resolveMemoryBaseDir(given?: string, env: NodeJS.ProcessEnv = process.env): string {
  const own = given || env['REKINDLE_MEMORY_DIR'] || env['AUTOBYTEUS_MEMORY_DIR'];
  const place = own || placeOfBackend(env) || 'memory';
  return isStorageUrl(place) ? place : path.resolve(place);
}

/** Null for another value: other programs use a variable of this name, too. */
function placeOfBackend(env: NodeJS.ProcessEnv): string | null {
  const backend = env['STORAGE_BACKEND'];
  if (backend === 'local') return env['WORKSPACE_PATH'] || LOCAL_FOLDER;
  return backend === 'uc_volumes' ? volumeOf(env) : null;
}

/** Nothing names a place for leases, so the store takes one writer and refuses a second. */
function volumeOf(env: NodeJS.ProcessEnv): string {
  const missing = VOLUME.filter((name) => !env[name]);
  if (missing.length > 0) {
    const text = `STORAGE_BACKEND=uc_volumes needs ${missing.join(', ')}. Set them, or name the store in REKINDLE_MEMORY_DIR.`;
    throw new RekindleError('INVALID_ARGUMENT', text, { details: { argument: missing[0]! } });
  }
  const names = VOLUME.map((name) => env[name]!);
  const odd = names.find((name) => !/^[^/\\?#%\s]+$/.test(name) || name === '.' || name === '..');
  if (odd !== undefined) {
    const text = `${JSON.stringify(odd)} is not a name of a catalog, a schema or a volume.`;
    throw new RekindleError('INVALID_ARGUMENT', text, { details: { argument: VOLUME[names.indexOf(odd)]! } });
  }
  return `uc:/Volumes/${names.join('/')}?writers=one`;
}
