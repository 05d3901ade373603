/** A suite that misses a bug is no evidence: each one is shown a store with a bug, and must find it. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FlipCase, run as runFlips } from './bit-flips.js';
import {
  type FaultOptions,
  type FaultSuite,
  FaultTally,
  seedFromEnvironment,
  withTempFolder,
} from './fault-suite.js';
import { fullDisk } from './full-disk.js';
import { kills } from './kills.js';
import { pauses } from './pauses.js';
import { checkOrder } from './sync-order.js';

const seed = seedFromEnvironment();

const PLANTED: readonly [string, FaultSuite, number, NonNullable<FaultOptions['plant']>][] = [
  ['a writer that says "acknowledged" before it is', kills, 12, 'early-ack'],
  ['an owner that never looks whether it still holds its lease', pauses, 4, 'no-fence'],
  ['a short write that is taken for a whole one', fullDisk, 32, 'lying-write'],
];

describe('the fault suites find', () => {
  for (const [bug, suite, count, plant] of PLANTED) {
    it(bug, { timeout: 60_000 }, async (context) => {
      const report = await suite.run({ count, seed, plant, log: () => {} });
      if (report.skipped) context.skip(report.skipped);
      expect(report.violations.length).toBeGreaterThan(0);
    });
  }

  it('an acknowledgement that comes before the sync of the log, or between a write and its sync', () => {
    const traceOf = (...calls: string[]) => calls.map((call) => `1  ${call}`).join('\n');
    const [begin, done] = ['begin', 'done'].map((word) => `write(1<pipe:[1]>, "${word} 1\\n", 8) = 8`);
    const [write, sync] = ['pwrite64(9</db-wal>, "x", 1, 0) = 1', 'fdatasync(9</db-wal>) = 0'];
    const violations = (...calls: (string | undefined)[]) => {
      const tally = new FaultTally();
      checkOrder(traceOf(...calls.map(String)), tally);
      return tally.violations.length;
    };
    expect(violations(begin, write, sync, done)).toBe(0);
    expect(violations(begin, write, done, sync)).toBe(1);
    expect(violations(begin, write, sync, write, done)).toBe(1);
    expect(violations(begin, sync, done)).toBe(1);
  });

  it('a file that was written and not synced before the acknowledgement, also when another one was synced', () => {
    const files = { isData: (file: string) => file.includes('</store/'), everyDescriptor: true };
    const lines = (names: readonly string[]) =>
      names.map((name) => {
        if (name === 'begin' || name === 'done') return `1  write(1<pipe:[1]>, "${name} 1\\n", 8) = 8`;
        const [call, file] = name.split(' ');
        const end = call === 'write' ? 'pwrite64' : 'fdatasync';
        return `1  ${end}(${file === 'a' ? 8 : 9}</store/${file}>) = 0`;
      });
    const violations = (...names: readonly string[]) => {
      const tally = new FaultTally();
      checkOrder(lines(names).join('\n'), tally, files);
      return tally.violations.length;
    };
    expect(violations('begin', 'write a', 'sync a', 'write b', 'sync b', 'done')).toBe(0);
    expect(violations('begin', 'write a', 'sync a', 'write b', 'done')).toBe(1);
    expect(violations('begin', 'write a', 'write b', 'sync b', 'done')).toBe(1);
  });

  it('a reader that ignores checksums', { timeout: 60_000 }, async () => {
    const careless: FlipCase = {
      title: 'lines without checksums',
      partsMin: 10,
      ignored: /lease/,
      make: async (root) => {
        const { FileStorage } = await import('../../src/storage/file/file-storage.js');
        const store = new FileStorage(root);
        const journal = await store.openJournal(['traces']);
        for (let n = 1; n <= 10; n += 1) await journal.append([{ n, text: 'some text' }]);
        await store.close();
      },
      read: async (root, fileSystem) => {
        const file = await fileSystem.open(path.join(root, 'traces.jsonl'), 'read');
        const bytes = Buffer.alloc(await file.sizeBytes());
        await file.read(bytes, 0);
        const lines = bytes.toString().split('\n').slice(0, -1);
        return {
          parts: new Map(lines.map((line, index) => [`record ${index + 1}`, readable(line)])),
          told: false,
        };
      },
    };
    const options: FaultOptions = { count: 2_000, seed, log: () => {} };
    const report = await withTempFolder((folder) => runFlips(folder, options, [careless]));
    expect(report.violations.some((text) => text.includes('is read as'))).toBe(true);
  });
});

function readable(line: string): string {
  try {
    return JSON.stringify(JSON.parse(line));
  } catch {
    return line;
  }
}
