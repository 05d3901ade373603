/** One agent and its moves. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { POINTS } from './child-lines.js';
import type { Heard, Host } from './host.js';
import { checkAgent, type Totals } from './invariants.js';
import type { MovePlan } from './move-plan.js';
import type { MoveTally } from './move-tally.js';
import { Owners } from './owners.js';
import { headOf, readAgent } from './stored-agent.js';

/** Small enough for a hundred moves, and three times what a busy machine needs between two heartbeats. */
export const LEASE_TTL_MS = 1_000;
/** An owner works, and comes to each of its points, within this time. */
const WORK_MS = 15_000;
/** A heartbeat each third of the lease's life, and some delay. */
const TAKEN_EARLY_MS = LEASE_TTL_MS / 2;
const RESTORE_LIMIT_MS = LEASE_TTL_MS + 2_000;
/** A call to the store ends within two seconds, and the next one meets the fence. */
const FENCED_MS = 6_000;
const CLOSED_MS = 6_000;
const ANSWER_LOST_MS = 60;

export interface AgentMovesOptions {
  readonly agentId: string;
  readonly hosts: readonly Host[];
  readonly client: Client;
  readonly effectsFile: string;
  readonly tally: MoveTally;
  readonly random: SeededRandom;
  /** The number of its first owner. */
  readonly first: number;
}

/** An owner that ended, and has yet to come back. */
interface Ended {
  readonly host: Host;
  readonly tag: string;
  readonly plan: MovePlan;
}

export class AgentMoves {
  readonly #options: AgentMovesOptions;
  readonly #owners: Owners;
  readonly #tally: MoveTally;
  #number: number;
  #ended: Ended | null = null;
  #totals: Totals | null = null;

  constructor(options: AgentMovesOptions) {
    this.#options = options;
    this.#owners = new Owners(options.agentId);
    this.#tally = options.tally;
    this.#number = options.first;
  }

  hear(line: Heard): void {
    if (!('tag' in line)) return;
    const isFenced =
      this.#owners.list.some(({ tag }) => tag === line.tag) && this.#owners.list.at(-1)?.tag !== line.tag;
    if (line.type === 'ack') {
      this.#owners.acks.push(line);
      if (isFenced) this.#tally.add('late acknowledgements of what was stored before');
    } else if (line.type === 'failed') this.#tally.add(`failed calls: ${line.code}`);
    else if (line.type === 'append-fenced') this.#tally.add('appends that the store refused');
    else if (line.type === 'point' && line.point === 'run' && isFenced)
      this.#tally.add('tools started by a fenced owner');
  }

  get #owner(): Host {
    return this.#options.hosts[this.#number % 2]!;
  }

  get #tag(): string {
    return `${'AB'[this.#number % 2]}${this.#number}`;
  }

  async begin(): Promise<void> {
    this.#own();
    await this.#restored();
  }

  #own(): void {
    const { agentId, random } = this.#options;
    this.#owner.link.forget();
    this.#owner.tell({ do: 'own', agentId, tag: this.#tag, seed: random.bits() });
  }

  async #restored(): Promise<void> {
    const { agentId, client } = this.#options;
    const restored = await this.#owner.line('restored', WORK_MS);
    if (!restored) throw new RangeError(`${this.#tag} did not restore the agent: ${this.#owner.errors}`);
    for (const problem of restored.problems)
      this.#tally.complain(`${this.#tag} restored what is illegal: ${problem}`);
    this.#owners.list.push({ tag: this.#tag, headAtStart: await headOf(client, agentId), restored });
    this.#tally.add(`restored from: ${restored.source ?? 'nothing'}`);
    if (restored.interrupted) this.#tally.add('restored in the middle of a turn');
  }

  async move(plan: MovePlan): Promise<void> {
    const before = this.#ended;
    const isAlone = before === null || before.plan.back === 'at once';
    if (isAlone) this.#linger(plan); // so it may end in what it does first
    this.#owner.tell({ do: 'go' });
    if (!isAlone) {
      if (before.plan.back === 'late') await this.#turn();
      await this.#comeBack(before);
      this.#linger(plan);
    }
    const where = await this.#end(plan);
    this.#ended = { host: this.#owner, tag: this.#tag, plan };
    this.#number += 1;
    const ms = await this.#takeOver();
    if (plan.back === 'at once') await this.#comeBack(this.#ended);
    await this.#check();
    this.#tally.lastMove = `${plan.end} ${where}, back ${plan.back}; restored after ${ms} ms`;
  }

  #linger({ point, nth }: MovePlan): void {
    if (point) this.#owner.tell({ do: 'linger', point: point === 'sent' ? 'append' : point, nth });
  }

  async #turn(): Promise<void> {
    const ack = await this.#owner.line('ack', WORK_MS, ({ what }) => what === 'turn');
    if (!ack) this.#tally.complain(`${this.#tag} ended no turn in time: ${this.#owner.errors}`);
  }

  /** @returns where it was */
  async #end({ end, point, nth, loss }: MovePlan): Promise<string> {
    const owner = this.#owner;
    if (point === null) await sleep(nth);
    else if (!(await owner.line('lingers', WORK_MS)))
      this.#tally.complain(`${this.#tag} never came to the point ${point}: ${owner.errors}`);
    if (point === 'sent') {
      await owner.link.cut('answers', loss);
      await sleep(ANSWER_LOST_MS);
    }
    if (end === 'cut off') await owner.link.cut('all', loss);
    else if (end === 'paused') owner.pause();
    else {
      await owner.kill();
      await owner.link.heal();
    }
    const where = point === null ? 'at any moment' : POINTS[point];
    this.#tally.add(`ended: ${end}`);
    this.#tally.add(`where: ${where}`);
    return where;
  }

  /** @returns milliseconds from the first try */
  async #takeOver(): Promise<number> {
    this.#own();
    await this.#restored();
    const owner = this.#owner;
    const tried = owner.heard('trying');
    const restored = owner.heard('restored');
    this.#tally.add(owner.heard('refused') ? 'refused at first' : 'tried late, when the lease had run out');
    const ms = Math.round((restored?.atMs ?? 0) - (tried?.atMs ?? 0));
    this.#tally.restored(ms);
    if (ms < TAKEN_EARLY_MS) this.#tally.complain(`${this.#tag} took the lease over after ${ms} ms`);
    if (ms > RESTORE_LIMIT_MS) this.#tally.complain(`${this.#tag} restored the agent only after ${ms} ms`);
    return ms;
  }

  async #comeBack({ host, tag, plan }: Ended): Promise<void> {
    if (plan.end === 'killed') return this.#restart(host);
    await host.link.heal();
    if (plan.end === 'paused') host.wake();
    const fenced = await host.line('fenced', FENCED_MS);
    if (fenced?.code !== 'LEASE_LOST') {
      const found = fenced?.code ?? host.heard('failed')?.code ?? 'it works on';
      this.#tally.complain(`${tag} came back and was not fenced: ${found}`);
      return this.#restart(host);
    }
    this.#tally.add('fenced owners that came back');
    if (await host.line('closed', CLOSED_MS)) return;
    this.#tally.complain(`${tag} was fenced, but its storage did not close`);
    await this.#restart(host);
  }

  async #restart(host: Host): Promise<void> {
    await host.kill();
    host.start();
    if (!(await host.line('ready', WORK_MS)))
      throw new RangeError(`${host.name} did not start: ${host.errors}`);
  }

  async #check(): Promise<void> {
    const { agentId, client, effectsFile } = this.#options;
    const stored = await readAgent(client, agentId, effectsFile);
    this.#totals = checkAgent(stored, this.#owners, (text) => this.#tally.complain(`${agentId}: ${text}`));
  }

  /** The last owner works for a turn and is killed; what then stands is looked at once more. */
  async end(): Promise<void> {
    this.#owner.tell({ do: 'go' });
    if (this.#ended && this.#ended.plan.back !== 'at once') await this.#comeBack(this.#ended);
    await this.#turn();
    await this.#restart(this.#owner);
    await this.#check();
    for (const [name, amount] of Object.entries(this.#totals ?? {})) this.#tally.add(name, amount);
  }
}
