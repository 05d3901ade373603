/**
 * Child processes that start fast: the needed sources are turned into JavaScript once, because a loader that does it
 * at each start takes longer than the child lives.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const ANSWER_WITHIN_MS = 20_000;
const SOURCES = ['src/core', 'src/storage', 'test/faults'];

/** Made once in a process: each suite needs the same. */
let built: Promise<ReadonlyMap<string, string>> | null = null;

/** Puts JavaScript of the sources into `folder`, in the same tree. */
export async function buildChildren(folder: string): Promise<void> {
  built ??= buildSources();
  await fs.writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  await fs.symlink(path.join(PROJECT, 'node_modules'), path.join(folder, 'node_modules'));
  for (const [name, javaScript] of await built) {
    const target = path.join(folder, name);
    await fs.mkdir(path.dirname(target), { recursive: true });
    await fs.writeFile(target, javaScript);
  }
}

async function buildSources(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const source of SOURCES) {
    for (const entry of await fs.readdir(path.join(PROJECT, source), { recursive: true })) {
      if (!entry.endsWith('.ts') || entry.endsWith('.test.ts')) continue;
      const text = await fs.readFile(path.join(PROJECT, source, entry), 'utf8');
      files.set(path.join(source, entry.replace(/\.ts$/, '.js')), toJavaScript(text));
    }
  }
  return files;
}

function toJavaScript(source: string): string {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };
  return ts.transpileModule(source, { compilerOptions }).outputText;
}

export interface Child {
  readonly pid: number;
  /** Every line that it printed, whole ones only. */
  readonly lines: readonly string[];
  /** What it wrote to its error output. */
  readonly errors: readonly string[];
  readonly ended: Promise<void>;
  /** Resolves with the first line that fits; rejects when the child ends before. */
  line(fits: (line: string) => boolean): Promise<string>;
  send(line: string): void;
  kill(signal: NodeJS.Signals): void;
}

/** @param onLine for those that say much: their lines are told, not kept */
export function startChild(
  folder: string,
  script: string,
  args: readonly string[],
  onLine?: (line: string) => void,
): Child {
  const file = path.join(folder, 'test/faults', script);
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  return watched(child, onLine);
}

function watched(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  onLine?: (line: string) => void,
): Child {
  const lines: string[] = [];
  const errors: string[] = [];
  const waiting = new Set<() => void>();
  const told = () => {
    for (const look of waiting) look();
  };
  child.stdin.on('error', () => {}); // it was killed
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (onLine) return onLine(line);
    lines.push(line);
    told();
  });
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => {
    child.on('close', () => {
      hasEnded = true;
      resolve();
      told();
    });
  });
  const line = (fits: (line: string) => boolean) =>
    new Promise<string>((resolve, reject) => {
      const late = setTimeout(() => look('the child said nothing in time'), ANSWER_WITHIN_MS);
      const look = (giveUp = hasEnded ? 'the child ended too early' : null) => {
        const found = lines.find(fits);
        if (found === undefined && giveUp === null) return;
        waiting.delete(told);
        clearTimeout(late);
        if (found !== undefined) resolve(found);
        else reject(new RangeError(`${giveUp}: ${errors.slice(-5).join(' | ')}`));
      };
      const told = () => look();
      waiting.add(told);
      told();
    });
  return {
    pid: child.pid!,
    lines,
    errors,
    ended,
    line,
    send: (text) => void child.stdin.write(`${text}\n`),
    kill: (signal) => void child.kill(signal),
  };
}
