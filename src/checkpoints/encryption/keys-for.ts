/** Creates the master keys that a configuration names. */
import type { CheckpointConfig } from '../config/checkpoint-config.js';
import { defaultKeyFile } from '../config/data-folder.js';
import { type Environment, EnvironmentKeys } from './environment-keys.js';
import { KeyFile } from './key-file.js';
import { Keychain } from './keychain.js';
import { keyUnavailable, type MasterKey, type MasterKeys } from './master-keys.js';
import { StoredKeys } from './stored-keys.js';

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

/**
 * The master key for a new data key. The first one is created here. If other sessions have keys, a missing
 * master key was lost and must not be replaced silently.
 * @throws KEY_UNAVAILABLE
 */
export async function masterForNew(masters: MasterKeys, hasKeys: () => Promise<boolean>): Promise<MasterKey> {
  const current = await masters.current();
  if (current) return current;
  if (await hasKeys())
    throw keyUnavailable(
      `${masters.place} has no master key, but there are sessions that were encrypted with one.`,
      {
        place: masters.place,
        reason: 'missing',
      },
    );
  const made = await Promise.resolve(masters.renew()).catch(async (thrown: unknown) => {
    const others = await masters.current(); // another process was first
    if (others) return others;
    throw thrown;
  });
  if (made) return made;
  throw keyUnavailable(`${masters.place} has no master key.`, { place: masters.place, reason: 'missing' });
}
