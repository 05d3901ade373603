/** The reference that `npm run docs` builds has what the sources say about each exported name: this holds that they say something. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
interface EntryPoint {
  readonly entryPoint: string;
  readonly names: readonly string[];
}

describe('exported names', () => {
  it('have a docstring each', () => {
    const script = ['scripts/undocumented.mjs', '--json'];
    const run = spawnSync(process.execPath, script, { cwd: ROOT, encoding: 'utf8' });
    expect(run.status, run.stderr).toBe(0);
    const found = JSON.parse(run.stdout) as EntryPoint[];
    expect(found.length).toBeGreaterThan(10);
    const list = found.flatMap(({ entryPoint, names }) => names.map((name) => `${entryPoint}: ${name}`));
    const whatToDo = 'What to do: write a docstring (/** ... */) at the declaration of each new name.';
    expect(list, whatToDo).toStrictEqual([]);
  });
});

describe('entry points', () => {
  const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    readonly exports: { readonly [subpath: string]: string | { readonly default: string } };
  };

  it.each(Object.entries(manifest.exports).filter((entry) => typeof entry[1] !== 'string'))(
    '%s begins with what it is for, under its name',
    (subpath, target) => {
      const built = (target as { readonly default: string }).default;
      const source = built.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
      const text = readFileSync(path.join(ROOT, source), 'utf8');
      const head = /^\/\*\*\n \* \S.*?\n \*\n \* @module (\S+)\n \*\//s.exec(text);
      expect(head?.[1], `${source} needs a comment with a description and @module`).toBe(
        `rekindle${subpath.slice(1)}`,
      );
    },
  );
});
