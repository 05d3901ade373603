/** What the bench of checkpoints saves, what it is compared with, and how it counts bytes on disk. */
import { spawnSync } from 'node:child_process';
import { open, readdir, rename, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type CheckpointConfigInit,
  CheckpointService,
  type CheckpointServiceOptions,
  type ClassificationRule,
  type ClassificationRules,
} from '../src/checkpoints/index.js';
import type { JsonObject } from '../src/core/json.js';
import { FileStorage } from '../src/storage/file/file-storage.js';
import { NodeFileSystem } from '../src/storage/file/node-file-system.js';
import type { OpenFile, OpenMode } from '../src/storage/file-system.js';
import { CLI_BUILD } from '../test/support/build-cli.js';
import { ms, quantile } from './support.js';

export const KEYS = 50;
export const KILOBYTE = 1_000;
const TEXT_BYTES = KILOBYTE - 3; // with its quotes and comma it is a kilobyte of JSON
const LAYER_KEYS = ['user_goal', 'plan', 'messages', 'notes', 'debug_log'];

const WORDS = 'context restore agent ledger window station number green open river'.split(' ');

/** Text that gzip makes about three times smaller, the same for the same seed. */
export function proseOf(bytes: number, seed: number): string {
  let state = (Math.imul(seed, 2_654_435_761) + 1) >>> 0;
  let text = '';
  while (text.length < bytes) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += `${WORDS[(state >>> 8) % WORDS.length]}${(state >>> 12) % 99_991} `;
  }
  return text.slice(0, bytes);
}

/** Numbers from 0 up to `below`, the same each time. */
export function numbers(seed = 1): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A context of 50 keys, each a list of texts of 1 KB; a change replaces some of them. */
export class ChangingContext {
  readonly value: Record<string, string[]> = {};
  readonly #keys: string[] = [];
  readonly #textsPerKey: number;
  readonly #random = numbers();
  #seed = 0;

  constructor(kilobytes: number) {
    this.#textsPerKey = kilobytes / KEYS;
    for (let n = 0; n < KEYS; n += 1) {
      const key = `${LAYER_KEYS[n % LAYER_KEYS.length]}_${n}`;
      this.#keys.push(key);
      this.value[key] = Array.from({ length: this.#textsPerKey }, () => this.#newText());
    }
  }

  /** 1 KB, somewhere. */
  change(): JsonObject {
    const texts = this.value[this.#keys[this.#random(KEYS)]!]!;
    texts[this.#random(texts.length)] = this.#newText();
    return this.value;
  }

  #newText(): string {
    this.#seed += 1;
    return proseOf(TEXT_BYTES, this.#seed);
  }
}

/** A history of 1 MB, of which 1 % is another from turn to turn. */
export interface Shape {
  readonly title: string;
  turn(texts: string[], newText: () => string, random: (below: number) => number): void;
}

const HISTORY_TEXTS = 1_000;
const TURN_TEXTS = HISTORY_TEXTS / 100;

export const SHAPES: readonly Shape[] = [
  {
    title: 'appended, the oldest dropped',
    turn(texts, newText) {
      texts.splice(0, TURN_TEXTS);
      for (let n = 0; n < TURN_TEXTS; n += 1) texts.push(newText());
    },
  },
  {
    title: 'one range replaced',
    turn(texts, newText, random) {
      const start = random(HISTORY_TEXTS - TURN_TEXTS);
      for (let n = 0; n < TURN_TEXTS; n += 1) texts[start + n] = newText();
    },
  },
  {
    title: 'ten places replaced',
    turn(texts, newText, random) {
      for (let n = 0; n < TURN_TEXTS; n += 1) texts[random(HISTORY_TEXTS)] = newText();
    },
  },
];

/** The contexts of a session, one a turn; always the same object. */
export function* turnsOf(shape: Shape, turns: number): Generator<JsonObject> {
  let seed = 0;
  const newText = () => proseOf(TEXT_BYTES, (seed += 1));
  const random = numbers();
  const messages = Array.from({ length: HISTORY_TEXTS }, newText);
  for (let turn = 0; turn < turns; turn += 1) {
    if (turn > 0) shape.turn(messages, newText, random);
    yield { goal: 'Bench the checkpoints.', messages, turn };
  }
}

/** 25 rules about keys and 25 about contents in each layer. */
export function userRules(): ClassificationRules {
  const rules = (layer: string): ClassificationRule[] =>
    Array.from({ length: 50 }, (_, n) =>
      n % 2 === 0
        ? {
            type: 'key_regex',
            pattern: `(?:^|_)(?:${layer}_${n}|notes?_${n}|plans?_${n})(?:_|$)`,
            priority: 10,
          }
        : {
            type: 'content_heuristic',
            pattern: `(?i)\\b(?:${layer} ${n}|must ${n}|river${n}\\d+)\\b`,
            priority: 4,
          },
    );
  const [CRITICAL, IMPORTANT, USEFUL, EPHEMERAL] = ['critical', 'important', 'useful', 'passing'].map(rules);
  return { patterns: { CRITICAL: CRITICAL!, IMPORTANT: IMPORTANT!, USEFUL: USEFUL!, EPHEMERAL: EPHEMERAL! } };
}

/** What is saved and loaded. */
export interface Case {
  readonly kilobytes: number;
  readonly encrypted: boolean;
}

export const CASES: readonly Case[] = [100, 1_000].flatMap((kilobytes) =>
  [false, true].map((encrypted) => ({ kilobytes, encrypted })),
);

export const titleOf = ({ kilobytes, encrypted }: Case) => `${kilobytes} KB${encrypted ? ', encrypted' : ''}`;

/** Keeps all checkpoints. The folder is that of one store. */
export function serviceIn(
  folder: string,
  options: { readonly encrypted?: boolean; readonly fileSystem?: NodeFileSystem } = {},
): { service: CheckpointService; close(): Promise<void> } {
  const { encrypted = false, fileSystem } = options;
  const config: CheckpointConfigInit = {
    storage: { maxCheckpoints: 1_000 },
    encryption: { enabled: encrypted, keyFile: path.join(folder, 'master-keys.json') },
  };
  const backend = new FileStorage(path.join(folder, 'store'), fileSystem ? { fileSystem } : {});
  const given: CheckpointServiceOptions = { backend, config };
  const service = new CheckpointService(given);
  return {
    service,
    async close() {
      await service.close();
      await backend.close();
    },
  };
}

/** A disk that does not wait: only to make what is measured afterwards. */
export class WithoutSync extends NodeFileSystem {
  override async open(file: string, mode: OpenMode): Promise<OpenFile> {
    const opened = await super.open(file, mode);
    opened.datasync = async () => {};
    return opened;
  }

  override async syncFolder(): Promise<void> {}
}

/** The shortest durable way: a new file, synced, in place of the old one, and the folder synced. */
export async function writeWhole(folder: string, context: JsonObject): Promise<void> {
  const made = path.join(folder, 'whole.tmp');
  const file = await open(made, 'w');
  await file.writeFile(JSON.stringify(context));
  await file.sync();
  await file.close();
  await rename(made, path.join(folder, 'whole.json'));
  const opened = await open(folder, 'r');
  await opened.sync();
  await opened.close();
}

export interface DiskBytes {
  /** Sum of the sizes of files. */
  readonly files: number;
  /** What the file system set aside for files, and for folders. */
  readonly fileBlocks: number;
  readonly folderBlocks: number;
}

const BLOCK = 512;

export async function diskBytes(folder: string): Promise<DiskBytes> {
  let [files, fileBlocks, folderBlocks] = [0, 0, (await stat(folder)).blocks * BLOCK];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const { size, blocks } = await stat(path.join(entry.parentPath, entry.name));
    if (entry.isDirectory()) folderBlocks += blocks * BLOCK;
    else {
      files += size;
      fileBlocks += blocks * BLOCK;
    }
  }
  return { files, fileBlocks, folderBlocks };
}

/** JavaScript in a process of its own, without a TypeScript loader. It has the compiled modules, and a `folder` that is empty. */
function inOwnProcess<T>(folder: string, code: string): T {
  const head = `
    const begin = performance.now();
    const load = (name) => import(${JSON.stringify(`${pathToFileURL(CLI_BUILD).href}/`)} + name);
    const { CheckpointService } = await load('checkpoints/index.js');
    const { FileStorage } = await load('storage/index.js');
    const imported = performance.now();
    const backend = new FileStorage(${JSON.stringify(folder)});
    const service = new CheckpointService({ backend });
    ${code}
    await service.close();
    await backend.close();`;
  const options = ['--expose-gc', '--input-type=module', '-e', head];
  const run = spawnSync(process.execPath, options, { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(run.stderr);
  return JSON.parse(run.stdout) as T;
}

/** In milliseconds: until the first line of the module, its imports, the service and its first list, and its first save. */
export interface StartTimes {
  readonly node: number;
  readonly imports: number;
  readonly start: number;
  readonly save: number;
}

export function startOf(folder: string): StartTimes {
  return inOwnProcess(
    folder,
    `await service.list();
    const listed = performance.now();
    await service.save({ sessionId: 'first', context: ${JSON.stringify(new ChangingContext(100).value)} });
    const save = performance.now() - listed;
    console.log(JSON.stringify({ node: begin, imports: imported - begin, start: listed - imported, save }));`,
  );
}

/** Bytes that 100 sessions add, after a collection; `isBare`: that the same contexts do, when they are serialized and gzipped. */
export function memoryOfSessions(folder: string, isBare: boolean): { rss: number; live: number } {
  const bare = 'gzipSync(JSON.stringify(context))';
  return inOwnProcess(
    folder,
    `const { gzipSync } = await import('node:zlib');
    const text = ${JSON.stringify(JSON.stringify(new ChangingContext(100).value))};
    const save = (sessionId, context) => ${isBare ? bare : 'service.save({ sessionId, context })'};
    const memory = async () => {
      for (let n = 0; n < 3; n += 1) await new Promise((done) => setTimeout(done, 30)).then(gc);
      const { rss, heapUsed, external } = process.memoryUsage();
      return { rss, live: heapUsed + external };
    };
    for (let n = 0; n < 3; n += 1) await save('warm', { ...JSON.parse(text), n });
    const before = await memory();
    for (let n = 0; n < 200; n += 1) await save('session-' + (n % 100), { ...JSON.parse(text), n });
    const after = await memory();
    console.log(JSON.stringify({ rss: after.rss - before.rss, live: after.live - before.live }));`,
  );
}

export async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** p50 / p99. */
export function spread(times: readonly number[]): string {
  return `${ms(quantile(times, 0.5))} / ${ms(quantile(times, 0.99))}`;
}

/** A target, and whether it is met. A target that is missed is told, and nothing more. */
export function against(value: number, target: number, unit: string): [target: string, met: string] {
  return [`< ${target} ${unit}`, value < target ? 'yes' : 'NO'];
}

export const megabytes = (bytes: number) => (bytes / 1e6).toFixed(2);

export function busy(): string {
  return `load average ${os.loadavg()[0]?.toFixed(2)} on ${os.cpus().length} processors`;
}

export const NO_TARGET: [target: string, met: string] = ['', ''];
