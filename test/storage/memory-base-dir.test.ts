import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { resolveMemoryBaseDir } from '../../src/storage/memory-base-dir.js';
import { openStorage } from '../../src/storage/open-storage.js';

const OURS = { REKINDLE_MEMORY_DIR: '/ours' };
const ORIGINAL = { AUTOBYTEUS_MEMORY_DIR: '/original' };

describe('the base folder', () => {
  it('is what is given, else our variable, else that of the original project, else `memory` here', () => {
    expect(resolveMemoryBaseDir('/given', { ...OURS, ...ORIGINAL })).toBe('/given');
    expect(resolveMemoryBaseDir(undefined, { ...ORIGINAL, ...OURS })).toBe('/ours');
    expect(resolveMemoryBaseDir('', ORIGINAL)).toBe('/original');
    expect(resolveMemoryBaseDir(undefined, {})).toBe(path.resolve('memory'));
  });

  it('is not taken from a variable that is empty', () => {
    expect(resolveMemoryBaseDir(undefined, { ...ORIGINAL, REKINDLE_MEMORY_DIR: '' })).toBe('/original');
  });

  it('may be the URL of a store, which stays as it is', () => {
    expect(resolveMemoryBaseDir(undefined, { REKINDLE_MEMORY_DIR: 'sqlite:a.db' })).toBe('sqlite:a.db');
  });

  describe('named by STORAGE_BACKEND', () => {
    const uc = { STORAGE_BACKEND: 'uc_volumes', UC_CATALOG: 'main', UC_SCHEMA: 'agents', UC_VOLUME: 'work' };

    it('is WORKSPACE_PATH for local, else .claude/workspace', () => {
      const local = { STORAGE_BACKEND: 'local' };
      expect(resolveMemoryBaseDir(undefined, { ...local, WORKSPACE_PATH: '/there' })).toBe('/there');
      expect(resolveMemoryBaseDir(undefined, local)).toBe(path.resolve('.claude/workspace'));
      expect(resolveMemoryBaseDir(undefined, { ...local, ...OURS })).toBe('/ours');
    });

    it('is a volume with one writer for uc_volumes, which openStorage takes', async () => {
      const place = resolveMemoryBaseDir(undefined, uc);
      expect(place).toBe('uc:/Volumes/main/agents/work?writers=one');
      vi.stubEnv('DATABRICKS_HOST', 'http://127.0.0.1:1');
      vi.stubEnv('DATABRICKS_TOKEN', 'token');
      onTestFinished(() => void vi.unstubAllEnvs());
      await openStorage(place).close();
    });

    it('is refused with the variables that uc_volumes lacks, and with odd names', () => {
      const lacking = () =>
        resolveMemoryBaseDir(undefined, { STORAGE_BACKEND: 'uc_volumes', UC_SCHEMA: 'agents' });
      expect(lacking).toThrow('needs UC_CATALOG, UC_VOLUME');
      for (const UC_VOLUME of ['../other', 'a?seal=x', '..', 'a b'])
        expect(() => resolveMemoryBaseDir(undefined, { ...uc, UC_VOLUME }), UC_VOLUME).toThrow(
          'is not a name',
        );
    });

    it('is not taken from another value, which other programs use, or from WORKSPACE_PATH alone', () => {
      const other = { STORAGE_BACKEND: 'redis', WORKSPACE_PATH: '/there' };
      expect(resolveMemoryBaseDir(undefined, other)).toBe(path.resolve('memory'));
      expect(resolveMemoryBaseDir(undefined, { WORKSPACE_PATH: '/there' })).toBe(path.resolve('memory'));
    });
  });
});
