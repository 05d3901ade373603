/** Runs `rekindle` as a shell would: a process of its own, whose exit code counts. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** In your project: `npx rekindle`. In this repository: the sources, or the file that `REKINDLE_CLI` names. */
const MAIN = process.env['REKINDLE_CLI'] ?? fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** Prints the command and what it prints. Throws if the exit code is not 0. */
export function rekindle(args: readonly string[]): string {
  console.log(`$ rekindle ${args.map((arg) => (arg.includes(' ') ? `'${arg}'` : arg)).join(' ')}`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, MAIN, ...args], {
    encoding: 'utf8',
  });
  console.log(`${stdout}${stderr}`);
  if (status !== 0) throw new Error(`The exit code is ${status}.`);
  return stdout;
}
