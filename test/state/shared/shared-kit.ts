/** Stores and shared states for the tests of shared state. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { SessionTree, type SessionTreeOptions } from '../../../src/state/shared/sessions/session-tree.js';
import { SharedState, type SharedStateOptions } from '../../../src/state/shared/shared-state.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';

export const ROOT = 'root';
const FOLDER = ['shared', 'state', ROOT];
/** As `repairSharedJournal` wants it. */
export const JOURNAL = { journal: [...FOLDER, 'changes'], lease: [...FOLDER, 'changes.lease'] };

const made: string[] = [];
const open: { close(): Promise<void> }[] = [];

afterAll(async () => {
  for (const opened of open) await opened.close();
  for (const folder of made) await fs.rm(folder, { recursive: true, force: true });
});

/** A folder for files that a crash would have to leave whole, or none: `relaxed`, because no test here takes the power away. */
export class Den {
  readonly root: string;
  readonly #memory: MemoryStorage | null;
  readonly #segmentBytesMax: number;

  private constructor(root: string, memory: MemoryStorage | null, segmentBytesMax: number) {
    this.root = root;
    this.#memory = memory;
    this.#segmentBytesMax = segmentBytesMax;
  }

  static async files(segmentBytesMax = 1024 * 1024): Promise<Den> {
    const root = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-shared-'));
    made.push(root);
    return new Den(root, null, segmentBytesMax);
  }

  static memory(): Den {
    return new Den('', new MemoryStorage(), 0);
  }

  /** A fresh one each time for files, as another process would have it. */
  storage(): StorageBackend {
    if (this.#memory) return this.#memory;
    return new FileStorage(this.root, { durability: 'relaxed', segmentBytesMax: this.#segmentBytesMax });
  }

  /** A fresh instance each time. */
  state(options: Partial<SharedStateOptions> = {}): SharedState {
    const state = new SharedState(this.storage(), { root: ROOT, ...options });
    open.push(state);
    return state;
  }

  tree(options: SessionTreeOptions = {}): SessionTree {
    const tree = new SessionTree(this.storage(), options);
    open.push(tree);
    return tree;
  }

  get folder(): string {
    return path.join(this.root, ...FOLDER);
  }

  /** Of the journal, oldest first. */
  async segments(): Promise<string[]> {
    const names = (await fs.readdir(this.folder)).filter((name) => name.endsWith('.jsonl')).sort();
    return names.map((name) => path.join(this.folder, name));
  }

  /** One byte of one line becomes another, as on a disk that forgets. */
  async damageLine(index: number, file = path.join(this.folder, 'changes.jsonl')): Promise<void> {
    const lines = (await fs.readFile(file, 'utf8')).split('\n');
    const line = lines.at(index)!;
    lines[lines.indexOf(line)] = `${line.slice(0, 20)}#${line.slice(21)}`;
    await fs.writeFile(file, lines.join('\n'));
  }
}

export const DENS = [
  { name: 'files', make: () => Den.files() },
  { name: 'memory', make: async () => Den.memory() },
];

/** The values of all keys, by key. */
export async function valuesOf(state: SharedState): Promise<Record<string, unknown>> {
  const { keys } = await state.getAll();
  return Object.fromEntries(keys.map(({ key, value }) => [key, value]));
}

/** A value around a value, and so on. */
export function nested(depth: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { in: value };
  return value;
}
