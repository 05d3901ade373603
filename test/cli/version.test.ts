/** `rekindle --version` answers from the files that it needs: no command is loaded, and nothing that reads commands. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { CLI_BUILD } from '../support/build-cli.js';

const folder = mkdtempSync(path.join(os.tmpdir(), 'rekindle-version-'));
const hooks = path.join(folder, 'hooks.mjs');
const main = path.join(CLI_BUILD, 'cli/main.js');
const { version } = JSON.parse(readFileSync(path.join(CLI_BUILD, '../package.json'), 'utf8')) as {
  version: string;
};

/** Names each module of the program on standard error. */
writeFileSync(
  hooks,
  `import { register } from 'node:module';
   const source = "import { writeSync } from 'node:fs';" +
     "export async function load(url, context, next) { writeSync(2, url + '\\\\n'); return next(url, context); }";
   register('data:text/javascript,' + encodeURIComponent(source));`,
);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Other commands, and what only some commands use. */
const NOT_NEEDED =
  /(?<!list-)command\.js$|^server\/|node_modules\/(typebox|gpt-tokenizer|hono|ws|@modelcontextprotocol|pg|re2js|chokidar)\//;

function start(...args: string[]) {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--import', pathToFileURL(hooks).href, main, ...args],
    { encoding: 'utf8' },
  );
  const loaded = stderr.split('\n').filter((line) => line.startsWith('file:'));
  return { stdout, status, loaded: loaded.map((url) => path.relative(CLI_BUILD, new URL(url).pathname)) };
}

describe('rekindle', () => {
  it.each(['--version', '-V'])('%s loads no command', (flag) => {
    expect(start(flag)).toEqual({
      stdout: `${version}\n`,
      status: 0,
      loaded: expect.not.arrayContaining(['cli/program.js']) as string[],
    });
    const { loaded } = start(flag);
    expect(loaded).toContain('cli/main.js');
    expect(loaded.length, loaded.join('\n')).toBeLessThan(8);
  });

  it('list loads its own command, and no server, tokenizer or driver', () => {
    const { loaded, status } = start('list', '--dir', path.join(folder, 'none'));
    expect(status).toBe(0);
    expect(loaded).toContain('cli/list-command.js');
    expect(loaded.filter((file) => NOT_NEEDED.test(file))).toEqual([]);
  });
});
