/** Clients as processes that start fast: theirs is turned into JavaScript once, and the sources are those that are compiled already. */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { CLI_BUILD } from '../support/build-cli.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const FILES = ['client', 'client-plan', 'counter-client', 'model', 'planted'];

/** A folder for all that a run makes; it goes when the run ends. */
export async function withTempFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-linearizability-'));
  try {
    return await run(folder);
  } finally {
    await fs.rm(folder, { recursive: true, force: true });
  }
}

/** Puts the clients into a folder, in the tree of the sources: `src` there is what `build-cli.ts` compiled. */
export async function buildClients(folder: string): Promise<string> {
  const target = path.join(folder, 'build', 'test', 'linearizability');
  await fs.mkdir(target, { recursive: true });
  await fs.writeFile(path.join(folder, 'build', 'package.json'), '{"type":"module"}');
  await fs.symlink(CLI_BUILD, path.join(folder, 'build', 'src'));
  for (const name of FILES) {
    const source = await fs.readFile(path.join(HERE, `${name}.ts`), 'utf8');
    await fs.writeFile(path.join(target, `${name}.js`), toJavaScript(source));
  }
  return target;
}

function toJavaScript(source: string): string {
  const compilerOptions = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2023,
    verbatimModuleSyntax: true,
  };
  return ts.transpileModule(source, { compilerOptions }).outputText;
}

/** A process that ends before it has cleaned up leaves nobody behind, also none that is stopped. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly errors: string;
}

export class ClientProcess {
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;

  /** @param onLine whole lines of its output; a line that a kill cut off is not told */
  constructor(script: string, settings: object, onLine: (line: string) => void) {
    const child = spawn(process.execPath, [script, JSON.stringify(settings)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    running.add(child);
    child.once('close', () => running.delete(child));
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) onLine(line);
    });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    this.ended = new Promise((resolve) => {
      child.on('error', (thrown) => resolve({ code: null, signal: null, errors: String(thrown) }));
      child.on('close', (code, signal) => resolve({ code, signal, errors }));
    });
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    if (this.isRunning) this.#child.kill(name);
  }
}
