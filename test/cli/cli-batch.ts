/**
 * Several commands in one process, one after the other, each with the command line loaded anew: where a test needs many of them, most
 * of the time would go into starting processes.
 */
import { execFile } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { JsonObject } from '../../src/core/json.js';
import { CLI_BUILD } from '../support/build-cli.js';
import type { CliResult } from './cli-fixture.js';

const MAIN = pathToFileURL(path.join(CLI_BUILD, 'cli', 'main.js')).href;
const SCRIPT = `
const [main, commands] = [process.argv[1], JSON.parse(process.argv[2])];
process.execArgv = []; // so that arguments are read as those of a script
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

type ForEach<Commands> = { [Index in keyof Commands]: CliResult };

/** As many results as commands, in their order. */
export async function runCliBatch<const Commands extends readonly (readonly string[])[]>(
  commands: Commands,
  options: { readonly cwd?: string } = {},
): Promise<ForEach<Commands>> {
  const { REKINDLE_MEMORY_DIR: _, AUTOBYTEUS_MEMORY_DIR: __, ...env } = process.env;
  const args = ['--input-type=module', '-e', SCRIPT, MAIN, JSON.stringify(commands)];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: options.cwd ?? os.tmpdir(),
    env,
  });
  return JSON.parse(stdout) as ForEach<Commands>;
}

/** Commands below one command, for the memory in a folder, which is the current folder, too. */
export function batchOf(group: string, dir: string) {
  return <const Commands extends readonly (readonly string[])[]>(...commands: Commands) => {
    const whole = commands.map((args) => [group, ...args, '-d', dir]);
    return runCliBatch(whole, { cwd: dir }) as Promise<ForEach<Commands>>;
  };
}

/** What an agent may call itself, or write. */
export const HOSTILE = 'red\u001b[31m\u001b]0;title\u0007\n9  2099  forged';
/** How it is shown: in one line, with nothing to obey. */
export const HOSTILE_SHOWN = 'red\\u001b[31m\\u001b]0;title\\u0007 9 2099 forged';
/** What a terminal would obey. */
export const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

export function jsonOf({ stdout }: CliResult): JsonObject {
  return JSON.parse(stdout) as JsonObject;
}

/** With `TIME` for every point in time. */
export function linesOf({ stdout }: CliResult): string[] {
  return stdout.replace(/\d{4}-\d\d-\S+Z/g, 'TIME').split('\n');
}

/** The cells of a table, without its border. */
export function rowsOf(result: CliResult): string[][] {
  const rows = linesOf(result).filter((line) => line.startsWith('│'));
  return rows.map((row) => row.split('│').slice(1, -1)).map((row) => row.map((cell) => cell.trim()));
}
