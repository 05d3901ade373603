/** The makers of the fixtures give the files that are kept. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { FIXTURES } from '../fixtures/making/all.js';
import { folderState, tempFolder } from './memory/memory-kit.js';

const folder = fileURLToPath(new URL('../fixtures/memory', import.meta.url));

describe('the fixtures', () => {
  it('are made anew with the same bytes', async () => {
    const root = await tempFolder();
    const script = fileURLToPath(new URL('../fixtures/generate.ts', import.meta.url));
    await promisify(execFile)(process.execPath, ['--import', 'tsx', script, root], {
      cwd: path.dirname(path.dirname(script)),
    });
    const made = new Set(FIXTURES.map(({ name }) => name));
    const hashes = async (of: string) =>
      Object.entries(await folderState(of, { leases: true }))
        .filter(([file]) => made.has(file.split(path.sep)[0]!))
        .map(([file, state]) => `${file} ${state.split(' ')[0]}`);
    expect(await hashes(root)).toStrictEqual(await hashes(folder));
  });
});
