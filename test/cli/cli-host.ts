/**
 * A process that runs one command after the other, each with the command line loaded again from what the process has read already:
 * starting a process for each command would take most of the time of the tests. Commands that end by themselves only; for one that is
 * stopped from outside, is fed, or is looked at as a process, there is `startCli`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { CLI_BUILD } from '../support/build-cli.js';
import type { CliResult } from './cli-fixture.js';

const MAIN = pathToFileURL(path.join(CLI_BUILD, 'cli', 'main.js')).href;
const SCRIPT = `
const main = process.argv[1];
process.execArgv = []; // so that arguments are read as those of a script
const usual = { ...process.env };
let index = 0;
async function run({ args, cwd, env }) {
  const result = { code: 0, stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'])
    process[name].write = (text, ...rest) => {
      result[name] += typeof text === 'string' ? text : Buffer.from(text).toString('utf8');
      rest.at(-1)?.();
      return true;
    };
  process.argv = [process.execPath, main, ...args];
  process.exitCode = undefined;
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!(name in usual)) delete process.env[name];
  Object.assign(process.env, usual, env);
  try {
    await import(main + '?' + index++);
    result.code = process.exitCode ?? 0;
  } catch (thrown) {
    result.code = 1;
    result.stderr += String(thrown?.stack ?? thrown);
  }
  process.stdout.removeAllListeners('error');
  process.exitCode = undefined;
  return result;
}
process.on('message', async ({ id, ...command }) => process.send({ id, result: await run(command) }));
process.on('disconnect', () => process.exit(0));
`;

export interface HostedCommand {
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: { readonly [name: string]: string };
}

interface Answer {
  readonly id: number;
  readonly result: CliResult;
}

interface Waiting {
  readonly resolve: (result: CliResult) => void;
  readonly reject: (error: Error) => void;
}

class CliHost {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;
  ended = false;

  constructor() {
    const { REKINDLE_MEMORY_DIR: _, AUTOBYTEUS_MEMORY_DIR: __, ...env } = process.env;
    this.#child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT, MAIN], {
      cwd: os.tmpdir(),
      env,
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    this.#child.on('message', (answer) => this.#on(answer as Answer));
    this.#child.once('exit', (code) => this.#end(`The process of the commands ended with ${code}.`));
    this.#child.unref();
    this.#child.channel?.unref();
  }

  /** Commands wait for each other. */
  run({ args, cwd = os.tmpdir(), env = {} }: HostedCommand): Promise<CliResult> {
    const result = this.#last.then(() => this.#send({ args, cwd, env }));
    this.#last = result.catch(() => {});
    return result;
  }

  #send(command: HostedCommand): Promise<CliResult> {
    const id = ++this.#count;
    this.#child.channel?.ref();
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, ...command }, (error) => error && this.#end(error.message));
    });
  }

  #on({ id, result }: Answer): void {
    this.#child.channel?.unref();
    this.#waiting.get(id)?.resolve(result);
    this.#waiting.delete(id);
  }

  #end(why: string): void {
    this.ended = true;
    for (const { reject } of this.#waiting.values()) reject(new Error(why));
    this.#waiting.clear();
  }
}

let host: CliHost | null = null;

/** Runs a command in the process that this worker keeps for them. */
export function runHosted(command: HostedCommand): Promise<CliResult> {
  if (host === null || host.ended) host = new CliHost();
  return host.run(command);
}
