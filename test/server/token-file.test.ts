/** The file of the server's token, when others can reach it. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadServerToken } from '../../src/server/access/token.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';

async function stored() {
  const root = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-token-'));
  onTestFinished(() => fs.rm(root, { recursive: true, force: true }));
  const storage = new FileStorage(root);
  const { token } = await loadServerToken(storage);
  return { storage, token, file: path.join(root, 'server', 'token.json') };
}

describe.skipIf(process.platform === 'win32')('the file of the token', () => {
  it('is made for its owner alone, and read again', async () => {
    const { storage, token, file } = await stored();
    expect((await fs.stat(file)).mode & 0o777).toBe(0o600);
    expect(await loadServerToken(storage)).toEqual({ token, isNew: false, isStored: true });
  });

  it.each([0o666, 0o644, 0o620])('is refused with mode %o, with what to do', async (mode) => {
    const { storage, file } = await stored();
    await fs.chmod(file, mode);
    await expect(loadServerToken(storage)).rejects.toMatchObject({
      code: 'PATH_REFUSED',
      message: expect.stringContaining('chmod it to 600') as string,
    });
  });

  it.runIf(process.getuid?.() === 0)('is refused when it belongs to another user', async () => {
    const { storage, file } = await stored();
    await fs.chown(file, 1_234, 1_234);
    await expect(loadServerToken(storage)).rejects.toMatchObject({
      code: 'PATH_REFUSED',
      message: expect.stringContaining('another user') as string,
    });
  });
});
