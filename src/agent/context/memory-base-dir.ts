/** Where memory lives when nobody says: `REKINDLE_MEMORY_DIR`, the original project's variable, or `memory` here. */
import path from 'node:path';

export function resolveMemoryBaseDir(given?: string, env: NodeJS.ProcessEnv = process.env): string {
  return path.resolve(given || env['REKINDLE_MEMORY_DIR'] || env['AUTOBYTEUS_MEMORY_DIR'] || 'memory');
}
