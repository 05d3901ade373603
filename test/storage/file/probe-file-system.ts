/** A real file system that notes each call on files, by descriptor, and fails those that a test chooses. */
import path from 'node:path';
import { NodeFileSystem } from '../../../src/storage/file/node-file-system.js';
import type { FileStat, OpenFile, OpenMode } from '../../../src/storage/file-system.js';

export interface ProbedCall {
  readonly call: string;
  /** The last segment of the path. */
  readonly name: string;
  /** Which opening of a file, counted from 1; 0 for calls on paths. */
  readonly descriptor: number;
}

export class ProbeFileSystem extends NodeFileSystem {
  readonly calls: ProbedCall[] = [];
  /** An errno to fail with, `short` for a write of half of the bytes, or null. */
  verdict: (call: ProbedCall) => string | null = () => null;
  readonly #open = new Set<number>();
  #opened = 0;

  get openDescriptors(): number {
    return this.#open.size;
  }

  /** Fails the next call of this name, once. */
  failNext(name: string, errno: string): void {
    this.verdict = ({ call }) => {
      if (call !== name) return null;
      this.verdict = () => null;
      return errno;
    };
  }

  #meet(call: string, file: string, descriptor = 0): string | null {
    const probed = { call, name: path.basename(file), descriptor };
    this.calls.push(probed);
    const verdict = this.verdict(probed);
    if (verdict === null || verdict === 'short') return verdict;
    throw Object.assign(new RangeError(`planted ${verdict} in ${call}`), { code: verdict });
  }

  override async open(file: string, mode: OpenMode): Promise<OpenFile> {
    this.#meet(`open:${mode}`, file);
    const inner = await super.open(file, mode);
    const id = ++this.#opened;
    this.#open.add(id);
    return {
      read: (target, position) => inner.read(target, position),
      write: async (source, position) => {
        const short = this.#meet('write', file, id) === 'short';
        return inner.write(short ? source.subarray(0, Math.ceil(source.length / 2)) : source, position);
      },
      datasync: async () => {
        this.#meet('datasync', file, id);
        return inner.datasync();
      },
      truncate: async (size) => {
        this.#meet('truncate', file, id);
        return inner.truncate(size);
      },
      sizeBytes: () => inner.sizeBytes(),
      close: async () => {
        this.#open.delete(id);
        await inner.close();
        this.#meet('close', file, id);
      },
    };
  }

  override async rename(from: string, to: string): Promise<void> {
    this.#meet('rename', to);
    return super.rename(from, to);
  }

  override async renameOver(from: string, to: string, seen: FileStat | null): Promise<boolean> {
    this.#meet('rename', to);
    return super.renameOver(from, to, seen);
  }

  override async link(existing: string, name: string): Promise<void> {
    this.#meet('link', name);
    return super.link(existing, name);
  }

  override async unlink(file: string): Promise<void> {
    this.#meet('unlink', file);
    return super.unlink(file);
  }

  override async makeFolder(folder: string): Promise<void> {
    this.#meet('makeFolder', folder);
    return super.makeFolder(folder);
  }

  override async syncFolder(folder: string): Promise<void> {
    this.#meet('syncFolder', folder);
    return super.syncFolder(folder);
  }
}
