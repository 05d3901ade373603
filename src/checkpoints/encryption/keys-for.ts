/** Creates the master keys that a configuration names. */

import { type Environment, EnvironmentKeys } from '../../storage/sealing/environment-keys.js';
import { KeyFile } from '../../storage/sealing/key-file.js';
import { Keychain } from '../../storage/sealing/keychain.js';
import type { MasterKeys } from '../../storage/sealing/master-keys.js';
import { StoredKeys } from '../../storage/sealing/stored-keys.js';
import type { CheckpointConfig } from '../config/checkpoint-config.js';
import { defaultKeyFile } from '../config/data-folder.js';

export interface KeyOptions {
  /** The host's own master keys; they replace the configured ones. */
  readonly masterKeys?: MasterKeys;
  /** Default: the environment of the process. */
  readonly environment?: Environment;
}

export function keysFor(
  { provider, keyFile }: CheckpointConfig['encryption'],
  { masterKeys, environment = process.env }: KeyOptions,
): MasterKeys {
  if (masterKeys) return masterKeys;
  if (provider === 'environment') return new EnvironmentKeys(environment);
  if (provider === 'os_keychain') return new StoredKeys(new Keychain());
  const isInEnvironment =
    provider === null && keyFile === null && Boolean(environment['REKINDLE_MASTER_KEY']);
  const inFile = () => {
    const file = keyFile ?? environment['REKINDLE_KEY_FILE'];
    return new StoredKeys(new KeyFile(file || defaultKeyFile(environment)));
  };
  return isInEnvironment ? environmentBefore(environment, inFile) : inFile();
}

/**
 * The environment key, used without being configured: sessions wrapped by a key of the file stay readable.
 */
function environmentBefore(environment: Environment, inFile: () => MasterKeys): MasterKeys {
  const keys = new EnvironmentKeys(environment);
  return {
    place: keys.place,
    current: () => keys.current(),
    find: async (id) => (await keys.find(id)) ?? inFile().find(id),
    renew: () => keys.renew(),
    forgetOld: () => keys.forgetOld(),
  };
}
