/** Where master keys are: the environment, a file, the keychain. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Keychain, type KeyringPackage } from '../../../src/storage/sealing/keychain.js';
import { type MasterKeys, masterKeyOf } from '../../../src/storage/sealing/master-keys.js';
import { StoredKeys } from '../../../src/storage/sealing/stored-keys.js';
import {
  bytesIn,
  CANARY,
  contextOf,
  environmentKeys,
  errorOf,
  K1,
  K2,
  serviceIn,
  sessionFolder,
  temporaryFolder,
  textOf,
} from './encryption-kit.js';

const idOf = (hex: string): string => masterKeyOf(Buffer.from(hex, 'hex')).id;

describe('keys in the environment', () => {
  const base64 = Buffer.from(K1, 'hex').toString('base64');

  it.each([
    ['hex', K1],
    ['hex in capitals', 'AB'.repeat(32)],
    ['base64', base64],
    ['base64url without padding', Buffer.from(K1, 'hex').toString('base64url')],
    ['white space around it', ` ${base64}\n`],
  ])('may be written as %s', async (_, text) => {
    expect((await environmentKeys(text).current()).bytes).toHaveLength(32);
  });

  it('are the same key, however they are written', async () => {
    expect((await environmentKeys(base64).current()).id).toBe(idOf(K1));
  });

  it.each(['00', K1.slice(2), `${K1}00`, 'g'.repeat(64), `${base64}AAAA`, '!'.repeat(44), ' '])(
    'are refused when malformed, and the text of them is not told: %j',
    async (text) => {
      const error = await errorOf(environmentKeys(text).current());
      expect(error.code).toBe('KEY_UNAVAILABLE');
      expect(error.details).toMatchObject({ place: 'REKINDLE_MASTER_KEY', reason: 'malformed' });
      if (text.length > 2) expect(textOf(error)).not.toContain(text);
    },
  );

  it('are missing when the variable is empty or not set', async () => {
    expect((await errorOf(environmentKeys().current())).details).toMatchObject({ reason: 'missing' });
    expect((await errorOf(environmentKeys('').current())).details).toMatchObject({ reason: 'missing' });
  });

  it('are found among those before, too, and nowhere else', async () => {
    const keys = environmentKeys('33'.repeat(32), `${K1}, ${K2},`);
    expect((await keys.find(idOf(K2)))?.bytes.toString('hex')).toBe(K2);
    expect((await keys.find(idOf(K1)))?.bytes.toString('hex')).toBe(K1);
    expect(await keys.find('0000000000000000')).toBeNull();
    expect((await keys.current()).id).toBe(idOf('33'.repeat(32)));
  });

  it('say which variable holds a malformed one', async () => {
    const error = await errorOf(environmentKeys(K1, 'nonsense').find(idOf(K2)));
    expect(error.details).toMatchObject({ place: 'REKINDLE_MASTER_KEY_PREVIOUS', reason: 'malformed' });
    expect(textOf(error)).not.toContain('nonsense');
  });
});

describe('the key file', () => {
  async function place() {
    const root = await temporaryFolder();
    const file = path.join(root, 'config', 'master-keys.json');
    const data = path.join(root, 'data');
    const service = () =>
      serviceIn(data, { config: { encryption: { enabled: true, provider: 'file', keyFile: file } } });
    return { file, data, service };
  }
  async function used() {
    const made = await place();
    await made.service().save({ sessionId: 's', context: contextOf(1) });
    return made;
  }

  it('is made at the first save, for its owner only', async () => {
    const { file, service } = await place();
    await service().save({ sessionId: 's', context: contextOf(1) });
    expect((await fs.stat(file)).mode & 0o777).toBe(0o600);
    expect((await service().load({ sessionId: 's' })).context).toEqual(contextOf(1));
  });

  it('is not made by reading', async () => {
    const { file, service } = await place();
    await service().verify();
    await errorOf(service().load({ sessionId: 's' }));
    await expect(fs.stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it.each([0o640, 0o604])('is refused when others may use it (%o), with what to do', async (mode) => {
    const { file, service } = await used();
    await fs.chmod(file, mode);
    const error = await errorOf(service().load({ sessionId: 's' }));
    expect(error.code).toBe('KEY_UNAVAILABLE');
    expect(error.message).toContain(file);
    expect(error.message).toContain('chmod it to 600');
    await fs.chmod(file, 0o600);
    expect((await service().load({ sessionId: 's' })).context).toEqual(contextOf(1));
  });

  it('is refused when it is a link', async () => {
    const { file, service } = await used();
    await fs.rename(file, `${file}.real`);
    await fs.symlink(`${file}.real`, file);
    expect((await errorOf(service().load({ sessionId: 's' }))).code).toBe('KEY_UNAVAILABLE');
  });

  it('is not made anew when it was lost', async () => {
    const { file, data, service } = await used();
    await fs.rm(file);
    const before = await bytesIn(data);
    const attempts = [
      service().save({ sessionId: 's', context: contextOf(2) }),
      service().save({ sessionId: 'another', context: contextOf(2) }),
      service().rotateKeys(),
      service().load({ sessionId: 's' }),
    ];
    const errors = await Promise.all(attempts.map(errorOf));
    expect(errors.map(({ code }) => code)).toEqual(attempts.map(() => 'KEY_UNAVAILABLE'));
    await expect(fs.stat(file)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await bytesIn(data)).toEqual(before);
  });

  it.each([
    '',
    '{',
    '{"format":1,"keys":[]}',
    '{"format":2,"keys":[]}',
    '{"format":1,"keys":["c2hvcnQ="]}',
    'null',
  ])('is refused when it is malformed, and stays as it is: %j', async (text) => {
    const { file, service } = await used();
    await fs.writeFile(file, text, { mode: 0o600 });
    expect((await errorOf(service().load({ sessionId: 's' }))).code).toBe('KEY_UNAVAILABLE');
    expect((await errorOf(service().save({ sessionId: 's', context: contextOf(2) }))).code).toBe(
      'KEY_UNAVAILABLE',
    );
    expect((await errorOf(service().rotateKeys())).code).toBe('KEY_UNAVAILABLE');
    expect(await fs.readFile(file, 'utf8')).toBe(text);
  });
});

/** As `@napi-rs/keyring` has it, over a map. */
function keyring(stored: Map<string, string>): KeyringPackage {
  return {
    Entry: class {
      readonly #name: string;
      constructor(service: string, account: string) {
        this.#name = `${service}/${account}`;
      }
      getPassword(): string | null {
        return stored.get(this.#name) ?? null;
      }
      setPassword(text: string): void {
        stored.set(this.#name, text);
      }
    },
  };
}

describe('the keychain of the system', () => {
  const locked: KeyringPackage = {
    Entry: class {
      getPassword(): string | null {
        throw new TypeError('the keychain is locked');
      }
      setPassword(): void {
        throw new TypeError('the keychain is locked');
      }
    },
  };

  it('keeps keys for another process', async () => {
    const stored = new Map<string, string>();
    const keys = (): MasterKeys => new StoredKeys(new Keychain(async () => keyring(stored)));
    const root = await temporaryFolder();
    await serviceIn(root, { masterKeys: keys() }).save({ sessionId: 's', context: contextOf(1) });
    expect(stored.size).toBe(1);
    expect((await serviceIn(root, { masterKeys: keys() }).load({ sessionId: 's' })).context).toEqual(
      contextOf(1),
    );
  });

  it('does not replace a key that another process put there meanwhile', async () => {
    const stored = new Map([['rekindle/checkpoint master keys', 'theirs']]);
    const error = await errorOf(new Keychain(async () => keyring(stored)).write('ours', true));
    expect(error.code).toBe('KEY_UNAVAILABLE');
    expect([...stored.values()]).toEqual(['theirs']);
  });

  it('is told to be unusable, and nothing is saved in plain text or elsewhere in its place', async () => {
    const root = await temporaryFolder();
    const masterKeys = new StoredKeys(new Keychain(async () => locked));
    const saving = serviceIn(root, { masterKeys }).save({ sessionId: 's', context: contextOf(1) });
    expect(await errorOf(saving)).toMatchObject({ code: 'KEY_UNAVAILABLE', details: { reason: 'refused' } });
    expect([...(await bytesIn(root)).values()].join()).not.toContain(CANARY);
    await expect(fs.stat(path.join(sessionFolder(root, 's'), 'keys.json'))).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });

  it('never falls back to plain text, whatever this machine has of it', async () => {
    const root = await temporaryFolder();
    // A machine with a screen may have one, and no test may change it: reading is enough there.
    const keychain = new Keychain();
    const reading = await keychain.read().then(
      () => null,
      (error: unknown) => error as { code: string },
    );
    if (reading === null) return;
    expect(['KEY_UNAVAILABLE', 'DEPENDENCY_MISSING']).toContain(reading.code);
    const service = serviceIn(root, { config: { encryption: { enabled: true, provider: 'os_keychain' } } });
    const error = await errorOf(service.save({ sessionId: 's', context: contextOf(1) }));
    expect(error.code).toBe(reading.code);
    expect([...(await bytesIn(root)).values()].join()).not.toContain(CANARY);
  });
});
