/**
 * The default memory location: `REKINDLE_MEMORY_DIR`, else `AUTOBYTEUS_MEMORY_DIR`, else `memory`. A folder, or the URL
 * of a store.
 */
import path from 'node:path';
import { isStorageUrl } from './open-storage.js';

export function resolveMemoryBaseDir(given?: string, env: NodeJS.ProcessEnv = process.env): string {
  const place = given || env['REKINDLE_MEMORY_DIR'] || env['AUTOBYTEUS_MEMORY_DIR'] || 'memory';
  return isStorageUrl(place) ? place : path.resolve(place);
}
