/**
 * What `import 'rekindle'` costs, so that it cannot grow unseen: how many files of ours it takes, and that none of the heavy packages is
 * among them. Reads the compiled files, as the tests of the command line start them.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { CLI_BUILD } from './support/build-cli.js';

/** A new feature that every restore needs may raise it; one that only some programs use is loaded by those. */
// Redaction, sealing, tenants and stores of objects count although few use them: an address may ask for them, and `openStorage` gives a
// store at once. The package has all of them in few files.
const FILES_MAX = 437;
const HEAVY =
  /node_modules\/(typebox|gpt-tokenizer|hono|@hono|ws|@modelcontextprotocol|commander|chokidar|re2js|pg|ai)\//;
const folder = mkdtempSync(path.join(os.tmpdir(), 'rekindle-imports-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Each module on standard error, also those of CommonJS. */
function loadedBy(code: string): string[] {
  const hooks = path.join(folder, 'hooks.mjs');
  writeFileSync(
    hooks,
    `import { createRequire, register } from 'node:module';
     const source = "import { writeSync } from 'node:fs';" +
       "export async function load(url, context, next) { writeSync(2, url + '\\\\n'); return next(url, context); }";
     register('data:text/javascript,' + encodeURIComponent(source));
     const { cache } = createRequire(import.meta.url);
     process.on('exit', () => { for (const file of Object.keys(cache)) process._rawDebug('file://' + file); });`,
  );
  const { stderr, status } = spawnSync(
    process.execPath,
    ['--import', pathToFileURL(hooks).href, '--input-type=module', '--eval', code],
    { encoding: 'utf8' },
  );
  expect(status, stderr).toBe(0);
  return [...new Set(stderr.split('\n').filter((line) => line.startsWith('file:')))];
}

const entry = (name: string) => JSON.stringify(pathToFileURL(path.join(CLI_BUILD, name)).href);

describe("import 'rekindle'", () => {
  const loaded = loadedBy(`await import(${entry('index.js')});`);

  it('loads none of the heavy packages', () => {
    expect(loaded.some((url) => url.endsWith('/memory-manager.js'))).toBe(true);
    expect(loaded.filter((url) => HEAVY.test(url))).toEqual([]);
  });

  it('loads no checkpoints, state, workspace, server or command', () => {
    const others = /\/dist-test\/(checkpoints|state|workspace|server|cli)\//;
    expect(loaded.filter((url) => others.test(url))).toEqual([]);
  });

  it(`takes at most ${FILES_MAX} files`, () => {
    const ours = loaded.filter((url) => url.includes('/dist-test/'));
    expect(ours.length).toBeLessThanOrEqual(FILES_MAX);
  });
});
