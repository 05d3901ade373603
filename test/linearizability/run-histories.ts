/** Rounds of clients that are killed and stopped, and the check of each history that they leave. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { postgresMissing } from '../support/postgres-cluster.js';
import { type StorageKind, storePlaces } from '../support/store-places.js';
import { checkHistory } from './checker.js';
import { buildClients, withTempFolder } from './child-processes.js';
import type { Bug } from './client-plan.js';
import type { Operation } from './history.js';
import { Round, type RoundPlan, type RoundResult } from './round.js';

export interface HistoriesOptions {
  readonly operations: number;
  readonly seed: number;
  /** Default 8. */
  readonly clients?: number;
  readonly onNote?: (note: string) => void;
  readonly operationsPerRound?: number;
  /** In each round; by default, as many as chance gives. */
  readonly kills?: number;
  readonly pauses?: readonly number[];
  /** Build it in: then a violation is what is wanted, and nothing is written down. */
  readonly bug?: Bug;
  /** Default `file`. */
  readonly storage?: StorageKind;
}

export interface HistoriesReport {
  readonly operations: number;
  /** One of each key in each round. */
  readonly histories: number;
  readonly kills: number;
  readonly pauses: number;
  /** Pauses longer than the right to write lasts. */
  readonly longPauses: number;
  /** Operations whose answer nobody got, or an error. */
  readonly lost: number;
  readonly errors: Readonly<Record<string, number>>;
  /** With the seed, and where the history was written. */
  readonly violations: readonly string[];
}

const PER_ROUND = 2_000;
/** Of the right to write to a shared state. */
const TTL_MS = 5_000;
const PAUSE_MS = [50, 7_000] as const;

/** What a process that is killed or stopped may hear. Any other error is a violation. */
const ALLOWED_ERRORS = ['LEASE_HELD', 'LEASE_LOST', 'JOURNAL_OUTCOME_UNKNOWN'];
/** A server that refuses and cuts off may be given up. */
const ALLOWED_OF_S3 = [...ALLOWED_ERRORS, 'STORAGE_UNAVAILABLE'];

export function runHistories(options: HistoriesOptions): Promise<HistoriesReport> {
  return withTempFolder(async (folder) => {
    const build = await buildClients(folder);
    const places = await storePlaces(options.storage ?? 'file', folder, options.seed);
    const run = new Histories(options);
    if (places === null) return { ...run.report(), violations: [postgresMissing()] };
    try {
      for (let round = 0; run.goesOn; round += 1) {
        const plan = planRound(options, round, run.left);
        const place = places.fresh();
        await run.take(round, plan, await new Round(plan, { build, place }).run());
        await places.remove(place);
      }
    } finally {
      await places.close();
    }
    return run.report();
  });
}

function planRound(options: HistoriesOptions, round: number, left: number): RoundPlan {
  const seed = (options.seed + round * 7_919) >>> 0;
  const random = new SeededRandom(seed ^ 0x5bd1e995);
  const kills = options.kills ?? 2 + random.below(4);
  const pauses = options.pauses ?? [...shortPauses(random), TTL_MS + 50 + random.below(PAUSE_MS[1] - TTL_MS)];
  const operations = Math.min(left, options.operationsPerRound ?? PER_ROUND);
  const { clients = 8, bug } = options;
  return { seed, clients, operations, kills, pauses, short: round % 2 === 1, bug };
}

function shortPauses(random: SeededRandom): number[] {
  const [least, most] = PAUSE_MS;
  return Array.from({ length: 1 + random.below(4) }, () => {
    return least + random.below(random.below(4) === 0 ? most - least : 600);
  });
}

class Histories {
  readonly #options: HistoriesOptions;
  readonly #violations: string[] = [];
  readonly #errors: Record<string, number> = {};
  #counts = { operations: 0, histories: 0, kills: 0, pauses: 0, longPauses: 0, lost: 0 };

  constructor(options: HistoriesOptions) {
    this.#options = options;
  }

  get left(): number {
    return this.#options.operations - this.#counts.operations;
  }

  get goesOn(): boolean {
    return this.left > 0 && this.#violations.length === 0;
  }

  async take(round: number, plan: RoundPlan, result: RoundResult): Promise<void> {
    const { operations, kills, pauses, lost, errors, failures } = result;
    const counts = this.#counts;
    counts.operations += operations.length;
    counts.kills += kills;
    counts.pauses += pauses.length;
    counts.longPauses += pauses.filter((ms) => ms > TTL_MS).length;
    counts.lost += lost;
    for (const [code, count] of errors) this.#errors[code] = (this.#errors[code] ?? 0) + count;
    const allowed = this.#options.storage === 's3' ? ALLOWED_OF_S3 : ALLOWED_ERRORS;
    const unexpected = [...errors.keys()].filter((code) => !allowed.includes(code));
    for (const what of [...failures, ...unexpected.map((code) => `a client was told ${code}`)])
      this.#violations.push(`round ${round}, seed ${plan.seed}: ${what}`);
    const keys = new Set(operations.map(({ key }) => key));
    counts.histories += keys.size;
    for (const key of keys)
      await this.#check(
        round,
        plan,
        operations.filter((of) => of.key === key),
      );
    this.#options.onNote?.(
      `round ${round}: ${operations.length} operations, ${kills} kills, ${pauses.length} pauses, ${lost} lost`,
    );
  }

  async #check(round: number, plan: RoundPlan, history: readonly Operation[]): Promise<void> {
    const verdict = checkHistory(history);
    if (verdict.ok) return;
    const kept = plan.bug === undefined ? `; the history is in ${await keep(history, plan.seed)}` : '';
    this.#violations.push(`round ${round}, seed ${plan.seed}: ${verdict.reason}${kept}`);
  }

  report(): HistoriesReport {
    return { ...this.#counts, errors: this.#errors, violations: this.#violations };
  }
}

/** In a file of its own, in the order of the calls: it is there to be looked at. */
async function keep(history: readonly Operation[], seed: number): Promise<string> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-violation-'));
  const file = path.join(folder, `history-${seed}.jsonl`);
  const lines = history
    .toSorted((a, b) => a.call - b.call)
    .map((operation) => `${JSON.stringify(operation)}\n`);
  await fs.writeFile(file, lines.join(''));
  return file;
}
