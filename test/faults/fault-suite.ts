/** What each fault suite takes and gives, for vitest and for `run.ts` alike. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { StorageKind } from '../support/store-places.js';

export interface FaultOptions {
  /** Kills, rounds, points or sizes; what it counts depends on the suite. */
  readonly count: number;
  /** Replays a run, as far as the suite is deterministic. */
  readonly seed: number;
  readonly log: (line: string) => void;
  /** A bug to build in, which the suite must find; see `planted.long.test.ts`. */
  readonly plant?: 'early-ack' | 'no-fence' | 'lying-write' | 'blind-retry' | 'no-time-outs';
  /** For suites that know several backends. Default `file`. */
  readonly storage?: StorageKind;
}

export interface FaultReport {
  readonly counts: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
  /** Why the suite could not run here. */
  readonly skipped?: string;
}

export interface FaultSuite {
  readonly title: string;
  /** What `count` is when nobody says. */
  readonly defaultCount: number;
  run(options: FaultOptions): Promise<FaultReport>;
}

/** Counts, and collects what must not happen. */
export class FaultTally {
  readonly counts: Record<string, number> = {};
  readonly violations: string[] = [];

  add(name: string, amount = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + amount;
  }

  violation(text: string): void {
    if (this.violations.length < 50) this.violations.push(text);
    this.add('violations');
  }

  /** Notes a violation unless the condition holds. */
  expect(condition: boolean, text: () => string): void {
    if (!condition) this.violation(text());
  }

  /** A planted bug has to be found, not to be found again. */
  isEnough({ plant }: FaultOptions): boolean {
    return plant !== undefined && this.violations.length > 0;
  }

  report(): FaultReport {
    return { counts: this.counts, violations: this.violations };
  }
}

export function seedFromEnvironment(): number {
  return Number(process.env['REKINDLE_SEED'] ?? Date.now() % 2 ** 31);
}

export async function withTempFolder<T>(
  run: (folder: string) => Promise<T>,
  parent: string = os.tmpdir(),
): Promise<T> {
  const folder = await fs.mkdtemp(path.join(parent, 'rekindle-faults-'));
  try {
    return await run(folder);
  } finally {
    await fs.rm(folder, { recursive: true, force: true });
  }
}

/** A line of progress, not more often than every two seconds. */
export function progress(log: (line: string) => void): (text: () => string) => void {
  let last = Date.now();
  return (text) => {
    if (Date.now() - last < 2_000) return;
    last = Date.now();
    log(text());
  };
}
