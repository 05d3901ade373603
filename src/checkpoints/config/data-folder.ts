/** The platform's folders for data and configuration. */
import os from 'node:os';
import path from 'node:path';
import { RekindleError } from '../../core/errors.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The default folder of checkpoints in earlier releases: `REKINDLE_DATA_DIR`, else the platform's folder for
 * program data. It is read only if a user names it.
 */
export function dataFolder(
  environment: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const own = environment['REKINDLE_DATA_DIR'];
  if (own) return path.resolve(own);
  const { home, join } = at(environment, platform);
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'rekindle');
  if (platform === 'win32')
    return join(environment['LOCALAPPDATA'] || join(home, 'AppData', 'Local'), 'rekindle');
  return join(environment['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'rekindle');
}

/**
 * Outside of the data folder if the platform has a configuration folder, so that a copy of the data does not
 * include the key.
 */
export function defaultKeyFile(
  environment: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const { home, join } = at(environment, platform);
  if (platform === 'darwin') return join(home, 'Library', 'Preferences', 'rekindle', 'master-keys.json');
  if (platform === 'win32')
    return join(environment['APPDATA'] || join(home, 'AppData', 'Roaming'), 'rekindle', 'master-keys.json');
  return join(environment['XDG_CONFIG_HOME'] || join(home, '.config'), 'rekindle', 'master-keys.json');
}

/** @throws INVALID_ARGUMENT for an account without a home folder */
function accountHome(): string {
  try {
    return os.homedir();
  } catch (cause) {
    const text = 'No home folder is known. Set HOME, or set REKINDLE_DATA_DIR to the folder of the data.';
    throw new RekindleError('INVALID_ARGUMENT', text, { details: { field: 'HOME' }, cause });
  }
}

function at(environment: Environment, platform: NodeJS.Platform) {
  const isWindows = platform === 'win32';
  const home = environment[isWindows ? 'USERPROFILE' : 'HOME'] || accountHome();
  return { home, join: isWindows ? path.win32.join : path.posix.join };
}
