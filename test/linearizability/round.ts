/** One round: clients on a fresh store, some of them killed or stopped meanwhile; then what they told, as a history. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SharedState } from '../../src/state/shared/shared-state.js';
import { openStorage } from '../../src/storage/open-storage.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { ClientProcess } from './child-processes.js';
import { type Bug, type ClientSettings, KEYS } from './client-plan.js';
import { EventLog } from './event-log.js';
import type { Answer, Operation } from './history.js';

export interface RoundPlan {
  readonly seed: number;
  readonly clients: number;
  readonly operations: number;
  readonly kills: number;
  /** How long each of them lasts, in milliseconds. */
  readonly pauses: readonly number[];
  /** See `ClientSettings`. */
  readonly short: boolean;
  readonly bug?: Bug | undefined;
}

export interface RoundResult {
  readonly operations: readonly Operation[];
  readonly lost: number;
  readonly kills: number;
  /** Those that there were, in milliseconds. */
  readonly pauses: readonly number[];
  /** Codes of errors other than a conflict, each with its count. */
  readonly errors: ReadonlyMap<string, number>;
  /** Clients that ended as none may. */
  readonly failures: readonly string[];
}

interface Client {
  readonly settings: ClientSettings;
  readonly process: ClientProcess;
  stopped: boolean;
  killed: boolean;
  answered: number;
}

type Disturbance = { readonly after: number; readonly stopMs: number | 'kill' };

/** A round that lasts longer hangs. */
const ROUND_MAX_MS = 180_000;

export class Round {
  readonly #plan: RoundPlan;
  readonly #script: string;
  readonly #place: string;
  readonly #root: string;
  readonly #random: SeededRandom;
  readonly #events = new EventLog();
  readonly #clients: Client[] = [];
  readonly #failures: string[] = [];
  readonly #disturbing = new Set<Promise<void>>();
  readonly #disturbances: Disturbance[];
  #latest: Client | null = null;
  readonly #pauses: number[] = [];
  #kills = 0;
  #over = false;

  constructor(plan: RoundPlan, { build, place }: { readonly build: string; readonly place: string }) {
    this.#plan = plan;
    this.#script = path.join(build, 'client.js');
    this.#place = place;
    this.#root = `root-${plan.seed}`;
    this.#random = new SeededRandom(plan.seed);
    this.#disturbances = this.#planDisturbances();
  }

  /** Between a twentieth of all answers and two thirds of them: later, many clients have ended. */
  #planDisturbances(): Disturbance[] {
    const { kills, pauses, operations } = this.#plan;
    const kinds = [...Array.from({ length: kills }, () => 'kill' as const), ...pauses];
    return kinds
      .map((stopMs) => ({ after: Math.floor(operations * (0.05 + this.#random.below(620) / 1_000)), stopMs }))
      .sort((a, b) => a.after - b.after);
  }

  async run(): Promise<RoundResult> {
    const late = setTimeout(() => this.#giveUp(), ROUND_MAX_MS);
    try {
      const { clients, operations } = this.#plan;
      for (let number = 0; number < clients; number += 1) this.#start(Math.ceil(operations / clients));
      await this.#untilAllEnded();
      this.#over = true;
      await this.#readAtTheEnd();
    } finally {
      this.#over = true;
      clearTimeout(late);
      for (const { process } of this.#clients) process.signal('SIGKILL');
      await Promise.all(this.#clients.map(({ process }) => process.ended));
    }
    const operations = this.#events.operations();
    const lost = operations.filter(({ answer }) => answer === null).length;
    const counts = { kills: this.#kills, pauses: this.#pauses, lost };
    return { operations, ...counts, errors: this.#events.errors, failures: this.#failures };
  }

  #start(operations: number): void {
    const number = this.#clients.length;
    const settings: ClientSettings = {
      place: this.#place,
      root: this.#root,
      client: `c${number}`,
      seed: this.#random.bits(),
      operations,
      lanes: 1 + (number % 3),
      short: this.#plan.short,
      bug: this.#plan.bug,
    };
    const process = new ClientProcess(this.#script, settings, (line) => this.#hear(client, line));
    const client: Client = { settings, process, stopped: false, killed: false, answered: 0 };
    this.#clients.push(client);
  }

  #hear(client: Client, line: string): void {
    if (!this.#events.hear(line)) return;
    client.answered += 1;
    this.#latest = client;
    while ((this.#disturbances[0]?.after ?? Number.POSITIVE_INFINITY) <= this.#events.answers) {
      const work = this.#disturb(this.#disturbances.shift()!).finally(() => this.#disturbing.delete(work));
      this.#disturbing.add(work);
    }
  }

  async #disturb({ stopMs }: Disturbance): Promise<void> {
    await sleep(this.#random.below(25));
    const client = this.#victim();
    if (!client) return;
    if (stopMs === 'kill') {
      this.#kills += 1;
      client.killed = true;
      client.process.signal('SIGKILL');
      await client.process.ended;
      const left = client.settings.operations - client.answered;
      if (left > 0 && !this.#over) this.#start(left);
      return;
    }
    this.#pauses.push(stopMs);
    client.stopped = true;
    client.process.signal('SIGSTOP');
    await sleep(stopMs);
    client.process.signal('SIGCONT');
    client.stopped = false;
  }

  /** Often the one that was answered last: it is likely to have the right to write just now. */
  #victim(): Client | null {
    const running = this.#clients.filter(({ process, stopped, killed }) => {
      return process.isRunning && !stopped && !killed;
    });
    if (running.length === 0) return null;
    const latest = this.#latest;
    if (latest && running.includes(latest) && this.#random.below(3) > 0) return latest;
    return this.#random.pick(running);
  }

  async #untilAllEnded(): Promise<void> {
    for (let index = 0; index < this.#clients.length; index += 1) {
      const { process, settings } = this.#clients[index]!;
      const { code, signal, errors } = await process.ended;
      if (!this.#clients[index]!.killed && (code !== 0 || errors !== ''))
        this.#failures.push(`client ${settings.client} ended with ${code ?? signal}: ${errors}`);
      await Promise.all(this.#disturbing); // one of them may start another
    }
  }

  #giveUp(): void {
    this.#failures.push(`the round did not end within ${ROUND_MAX_MS / 1_000} s`);
    this.#over = true;
    for (const client of this.#clients) {
      client.killed = true;
      client.process.signal('SIGKILL');
    }
  }

  /** By a process that has seen nothing yet. */
  async #readAtTheEnd(): Promise<void> {
    const storage = openStorage(this.#place);
    const state = new SharedState(storage, { root: this.#root });
    try {
      for (const key of KEYS) {
        const call = process.hrtime.bigint();
        const found = await state.get(key);
        const answer: Answer = found
          ? { kind: 'found', value: found.value, version: found.version }
          : { kind: 'none' };
        this.#events.add({ id: `end.${key}`, key, call, return: process.hrtime.bigint(), answer });
      }
    } finally {
      await state.close();
      await storage.close();
    }
  }
}
