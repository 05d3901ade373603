/** The master keys that an address names. */
import { RekindleError } from '../../core/errors.js';
import { EnvironmentKeys } from './environment-keys.js';
import { KeyFile } from './key-file.js';
import { Keychain, STORE_ACCOUNT } from './keychain.js';
import type { MasterKeys } from './master-keys.js';
import { StoredKeys } from './stored-keys.js';

/**
 * `environment`, `keychain`, or the path of a key file. The keychain and a file get a key when the store is made.
 * @throws INVALID_ARGUMENT
 */
export function keysNamed(name: string): MasterKeys {
  if (name === 'environment') return new EnvironmentKeys(process.env);
  if (name === 'keychain') return new StoredKeys(new Keychain(undefined, STORE_ACCOUNT));
  if (/[./\\]/.test(name)) return new StoredKeys(new KeyFile(name));
  const text = `seal=${name} names no keys. It is environment, keychain, or the path of a key file such as ./master.key.`;
  throw new RekindleError('INVALID_ARGUMENT', text, { details: { seal: name } });
}
