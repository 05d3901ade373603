/** A private copy of the repository, in which changes can be planted: the checkout itself is never touched. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Mutant } from './mutant.js';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = ['src', 'test', 'fixtures', 'docs', 'examples'];
const FILES = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'vitest.config.ts'];

export class PrivateTree {
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  static async make(): Promise<PrivateTree> {
    const root = await fs.mkdtemp(path.join(await fs.realpath(os.tmpdir()), 'rekindle-mutants-'));
    for (const folder of COPIED)
      await fs.cp(path.join(REPOSITORY, folder), path.join(root, folder), { recursive: true });
    for (const file of FILES) await fs.copyFile(path.join(REPOSITORY, file), path.join(root, file));
    await fs.symlink(path.join(REPOSITORY, 'node_modules'), path.join(root, 'node_modules'));
    return new PrivateTree(root);
  }

  /** Runs with the change in place. @throws RangeError when its text is not there exactly once */
  async withMutant<T>(mutant: Mutant, run: () => Promise<T>): Promise<T> {
    const file = path.join(this.root, mutant.file);
    const before = await fs.readFile(file, 'utf8');
    await fs.writeFile(file, planted(before, mutant));
    try {
      return await run();
    } finally {
      await fs.writeFile(file, before);
    }
  }

  async remove(): Promise<void> {
    await fs.rm(this.root, { recursive: true, force: true });
  }
}

/** @throws RangeError */
export function planted(text: string, { id, file, find, replace }: Mutant): string {
  const places = text.split(find).length - 1;
  if (places !== 1) throw new RangeError(`${id}: its text is in ${file} ${places} times, not once`);
  return text.replace(find, () => replace);
}

/** The mutants whose text or tests the repository does not have any more, each with the reason. */
export async function staleAmong(mutants: readonly Mutant[]): Promise<{ mutant: Mutant; why: string }[]> {
  const stale: { mutant: Mutant; why: string }[] = [];
  for (const mutant of mutants) {
    try {
      planted(await fs.readFile(path.join(REPOSITORY, mutant.file), 'utf8'), mutant);
      for (const test of mutant.caughtBy.filter((name) => name.startsWith('test/')))
        await fs.access(path.join(REPOSITORY, test));
    } catch (thrown) {
      stale.push({ mutant, why: (thrown as Error).message });
    }
  }
  return stale;
}
