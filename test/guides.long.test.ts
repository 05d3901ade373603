/** The programs of the guides hold what they promise, and print what their pages show. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLI_BUILD } from './support/build-cli.js';

const ROOT = path.join(import.meta.dirname, '..');
const PROGRAMS = readdirSync(path.join(ROOT, 'examples/guides')).map((file) => path.parse(file).name);
const run = promisify(execFile);

/** Bundled next to the command line: as sources, each of their processes would take seconds to start. */
const OUT = path.join(CLI_BUILD, 'guides');
let base = '';

beforeAll(async () => {
  base = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-guides-'));
  await build({
    absWorkingDir: ROOT,
    entryPoints: [...PROGRAMS.map((name) => `examples/guides/${name}.ts`), 'examples/deploy/service.ts'],
    outbase: 'examples',
    outdir: OUT,
    ...{ bundle: true, splitting: true, packages: 'external', platform: 'node', format: 'esm' },
  });
});
afterAll(() => fs.rm(base, { recursive: true, force: true }));

/** What the program prints. It rejects if the exit code is not 0. */
async function output(name: string): Promise<string> {
  const { REKINDLE_MEMORY_DIR: _, AUTOBYTEUS_MEMORY_DIR: __, ...env } = process.env;
  const { stdout, stderr } = await run(process.execPath, [path.join(OUT, 'guides', `${name}.js`)], {
    cwd: base,
    env: {
      ...env,
      TMPDIR: base,
      REKINDLE_CLI: path.join(CLI_BUILD, 'cli/main.js'),
      GUIDE_SERVICE: path.join(OUT, 'deploy/service.js'),
    },
  });
  expect(stderr).toBe('');
  return stdout;
}

describe('guides', () => {
  it.each(PROGRAMS)('%s holds its promise, and prints what its page shows', async (name) => {
    const page = path.join(ROOT, 'docs/guides', `${name}.md`);
    expect(existsSync(page)).toBe(true);
    const blocks = [...readFileSync(page, 'utf8').matchAll(/^```text\n(.*?)^```/gms)].map(
      ([, text]) => text!,
    );
    expect(blocks.length).toBeGreaterThan(0);
    const printed = (await output(name)).split('\n').map((line) => line.trim());
    const shown = blocks.flatMap((text) => text.split('\n').map((line) => line.trim())).filter(Boolean);
    expect(shown.filter((line) => !printed.includes(line))).toEqual([]);
  });
});
