/** The master keys that a configuration means. */
import type { CheckpointConfig } from '../config/checkpoint-config.js';
import { defaultKeyFile } from '../config/data-folder.js';
import { type Environment, EnvironmentKeys } from './environment-keys.js';
import { KeyFile } from './key-file.js';
import { Keychain } from './keychain.js';
import { keyUnavailable, type MasterKey, type MasterKeys } from './master-keys.js';
import { StoredKeys } from './stored-keys.js';

export interface KeyOptions {
  /** Master keys of the host's own, in place of what the configuration names. */
  readonly masterKeys?: MasterKeys;
  /** Default: that of the process. */
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

/** The key in the environment, which nobody named: sessions that a key of the file wraps stay readable. */
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
 * What a new data key is wrapped with. The first one is made here; where other sessions have keys, one that is missing was lost, and
 * is not replaced in silence.
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
    const others = await masters.current(); // somebody else was first
    if (others) return others;
    throw thrown;
  });
  if (made) return made;
  throw keyUnavailable(`${masters.place} has no master key.`, { place: masters.place, reason: 'missing' });
}
