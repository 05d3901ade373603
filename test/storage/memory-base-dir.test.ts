import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveMemoryBaseDir } from '../../src/storage/memory-base-dir.js';

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
});
