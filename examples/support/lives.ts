/** Runs a program as several processes, one after the other. Each process but the last is killed with SIGKILL. */
import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** What one process does. It calls `die` where it is to be killed. */
export type Life = (die: () => Promise<never>) => Promise<void>;

/** The lives share a new folder, which is their current folder. The last life runs in the first process, and must not call `die`. */
export async function lives(...all: readonly Life[]): Promise<void> {
  const { LIFE } = process.env;
  if (LIFE !== undefined) return all[Number(LIFE)]!(waitForTheKill);
  inNewFolder();
  for (let number = 0; number < all.length - 1; number += 1) {
    await runAndKill(number);
    console.log('\n[the process is killed with SIGKILL]\n');
  }
  await all.at(-1)!(waitForTheKill);
}

/** Makes a new folder, and makes it the current one, so that a program finds nothing of its last run. */
export function inNewFolder(): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'rekindle-guide-'));
  process.chdir(realpathSync(folder));
  console.log(`Everything is in ${process.cwd()}\n`);
}

async function runAndKill(number: number): Promise<void> {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!], {
    env: { ...process.env, LIFE: String(number) },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  const exit = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once('exit', (_, signal) => resolve(signal)),
  );
  child.once('message', () => child.kill('SIGKILL'));
  if ((await exit) !== 'SIGKILL') throw new Error('The process ended before it was killed.');
}

function waitForTheKill(): Promise<never> {
  if (!process.send) throw new Error('The last process is not killed.');
  process.send('kill me');
  return new Promise(() => setInterval(() => {}, 60_000));
}
