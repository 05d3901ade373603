/** Shared by the benches: folders, payloads, statistics, tables. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import Table from 'cli-table3';
import { NodeFileSystem } from '../src/storage/file/node-file-system.js';
import type { FileSystem, OpenFile, OpenMode } from '../src/storage/file-system.js';

export async function inTempFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(process.env['BENCH_DIR'] ?? os.tmpdir(), 'rekindle-bench-'));
  try {
    return await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Text of about `bytes` bytes that does not compress to nothing, the same for the same seed. */
export function textOfSize(bytes: number, seed: number): string {
  const words = [
    'context',
    'restore',
    'agent',
    'ledger',
    'window',
    'station',
    'number',
    'green',
    'open',
    'river',
  ];
  let state = seed * 2_654_435_761 + 1;
  let text = '';
  while (text.length < bytes) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += `${words[state % words.length]}${state % 97} `;
  }
  return text.slice(0, bytes);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function printTable(
  title: string,
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): void {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  for (const row of rows) table.push([...row]);
  process.stdout.write(`\n${title}\n${table.toString()}\n`);
}

export function ratio(value: number, base: number): string {
  return `${(value / base).toFixed(2)}x`;
}

export function ms(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1);
}

/** Counts what goes to the disk. */
export class CountingFileSystem extends NodeFileSystem implements FileSystem {
  datasyncs = 0;
  readonly bytes = new Map<string, number>();

  reset(): void {
    this.datasyncs = 0;
    this.bytes.clear();
  }

  bytesOf(pattern: RegExp): number {
    let sum = 0;
    for (const [file, bytes] of this.bytes) if (pattern.test(file)) sum += bytes;
    return sum;
  }

  override async open(file: string, mode: OpenMode): Promise<OpenFile> {
    const opened = await super.open(file, mode);
    return {
      read: (target, position) => opened.read(target, position),
      write: async (source, position) => {
        const count = await opened.write(source, position);
        this.bytes.set(file, (this.bytes.get(file) ?? 0) + count);
        return count;
      },
      datasync: () => {
        this.datasyncs += 1;
        return opened.datasync();
      },
      truncate: (size) => opened.truncate(size),
      sizeBytes: () => opened.sizeBytes(),
      close: () => opened.close(),
    };
  }
}
