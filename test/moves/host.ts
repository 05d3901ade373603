/** The campaign's view of a host: its process, its link, and what it said. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Command, HostSettings, Line } from './child-lines.js';
import type { Link } from './link.js';

/** A process that ends before it has cleaned up leaves nobody behind, also none that is stopped. */
const running = new Set<ChildProcessByStdio<Writable, Readable, Readable>>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A line, and when it was heard. */
export type Heard = Line & { readonly atMs: number };
export type HeardOf<T extends Line['type']> = Extract<Heard, { readonly type: T }>;

export class Host {
  readonly name: string;
  readonly link: Link;
  readonly #script: string;
  readonly #settings: HostSettings;
  readonly #onLine: (line: Heard) => void;
  readonly #waiting = new Set<() => void>();
  #child: ChildProcessByStdio<Writable, Readable, Readable>;
  #ended: Promise<void> = Promise.resolve();
  #errors = '';
  /** Of this process, since it was last told to own the agent. */
  #lines: Heard[] = [];

  /** @param build the folder with the child's JavaScript */
  constructor(link: Link, build: string, settings: HostSettings, onLine: (line: Heard) => void) {
    this.name = settings.host;
    this.link = link;
    this.#script = path.join(build, 'test/moves/host-child.js');
    this.#settings = settings;
    this.#onLine = onLine;
    this.#child = this.#spawn();
  }

  #spawn(): ChildProcessByStdio<Writable, Readable, Readable> {
    const [program = '', ...before] = this.link.command;
    const args = [...before, this.#script, JSON.stringify(this.#settings)];
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    running.add(child);
    this.#lines = [];
    child.stdin.on('error', () => {}); // it was killed
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-4_000);
    });
    createInterface({ input: child.stdout }).on('line', (text) => this.#hear(text));
    this.#ended = new Promise((resolve) => {
      child.on('close', () => {
        running.delete(child);
        resolve();
        for (const look of this.#waiting) look();
      });
    });
    return child;
  }

  #hear(text: string): void {
    const line = { ...(JSON.parse(text) as Line), atMs: performance.now() };
    this.#lines.push(line);
    this.#onLine(line);
    for (const look of this.#waiting) look();
  }

  /** What its processes wrote to their error output. */
  get errors(): string {
    return this.#errors;
  }

  heard<T extends Line['type']>(type: T): HeardOf<T> | undefined {
    return this.#lines.find((line): line is HeardOf<T> => line.type === type);
  }

  /** Null when it does not come in time, or the process ends before. */
  async line<T extends Line['type']>(
    type: T,
    withinMs: number,
    fits: (line: HeardOf<T>) => boolean = () => true,
  ): Promise<HeardOf<T> | null> {
    const find = () =>
      this.#lines.find((line): line is HeardOf<T> => line.type === type && fits(line as HeardOf<T>)) ?? null;
    const child = this.#child;
    return new Promise((resolve) => {
      const end = (found: HeardOf<T> | null) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(found);
      };
      const look = () => {
        const found = find();
        if (found || child.exitCode !== null || child.signalCode !== null) end(found);
      };
      const timer = setTimeout(() => end(find()), withinMs);
      this.#waiting.add(look);
      look();
    });
  }

  tell(command: Command): void {
    if (command.do === 'own') this.#lines = [];
    this.#child.stdin.write(`${JSON.stringify(command)}\n`);
  }

  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  wake(): void {
    this.#child.kill('SIGCONT');
  }

  /** Resolves when all that it said is heard. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  start(): void {
    this.#child = this.#spawn();
  }
}
