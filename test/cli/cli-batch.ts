/**
 * Several commands in one process, one after the other, each with the command line loaded anew: where a test needs many of them, most
 * of the time would go into starting processes.
 */
import { execFile } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { CLI_BUILD } from '../support/build-cli.js';
import type { CliResult } from './cli-fixture.js';

const MAIN = pathToFileURL(path.join(CLI_BUILD, 'cli', 'main.js')).href;
const SCRIPT = `
const [main, commands] = [process.argv[1], JSON.parse(process.argv[2])];
const streams = ['stdout', 'stderr'];
const writers = streams.map((name) => process[name].write);
const results = [];
for (const [index, args] of commands.entries()) {
  const result = { code: 0, stdout: '', stderr: '' };
  for (const name of streams) process[name].write = (text) => { result[name] += text; return true; };
  process.argv = [process.execPath, main, ...args];
  process.exitCode = undefined;
  await import(main + '?' + index);
  process.stdout.removeAllListeners('error');
  results.push({ ...result, code: process.exitCode ?? 0 });
}
streams.forEach((name, index) => { process[name].write = writers[index]; });
process.exitCode = 0;
process.stdout.write(JSON.stringify(results));
`;

/** As many results as commands, in their order. */
export async function runCliBatch<const Commands extends readonly (readonly string[])[]>(
  commands: Commands,
  options: { readonly cwd?: string } = {},
): Promise<{ [Index in keyof Commands]: CliResult }> {
  const { REKINDLE_MEMORY_DIR: _, AUTOBYTEUS_MEMORY_DIR: __, ...env } = process.env;
  const args = ['--input-type=module', '-e', SCRIPT, MAIN, JSON.stringify(commands)];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: options.cwd ?? os.tmpdir(),
    env,
  });
  return JSON.parse(stdout) as { [Index in keyof Commands]: CliResult };
}
