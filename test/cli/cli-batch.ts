/** Several commands, one after the other. */
import type { JsonObject } from '../../src/core/json.js';
import type { CliResult } from './cli-fixture.js';
import { runHosted } from './cli-host.js';

type ForEach<Commands> = { [Index in keyof Commands]: CliResult };

/** As many results as commands, in their order. */
export async function runCliBatch<const Commands extends readonly (readonly string[])[]>(
  commands: Commands,
  options: { readonly cwd?: string } = {},
): Promise<ForEach<Commands>> {
  const results: CliResult[] = [];
  for (const args of commands) results.push(await runHosted({ args, ...options }));
  return results as ForEach<Commands>;
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
