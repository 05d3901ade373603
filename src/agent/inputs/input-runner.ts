/** Runs the inputs of an agent's queue: as turns of their own, or as messages of the running turn. */
import type { Clock } from '../../core/clock.js';
import { asRekindleError } from '../../core/errors.js';
import type { TypedEvents } from '../../core/events.js';
import type { UserInput } from '../../memory/memory-input.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import type { AgentEvents } from '../agent-events.js';
import { type EnqueueOptions, InputQueue } from './input-queue.js';
import { type KnownInput, type QueuedInput, shown } from './input-table.js';

/** What the runner needs of its agent. */
export interface TurnHost {
  /** Runs `work` after the turns before it. Those of a higher priority come first. */
  schedule(work: () => Promise<void>, priority: number): Promise<void>;
  /** Runs a turn, now. `begin` records its input. */
  runTurn(begin: (turnId: string) => Promise<void>): Promise<unknown>;
  /** Aborts the running turn, if there is one. */
  interrupt(): void;
  /** False while the agent stops, and afterwards: what waits stays stored. */
  isRunning(): boolean;
  /** @throws AGENT_STATE, LEASE_LOST */
  assertRuns(): void;
}

export class InputRunner {
  readonly #queue: InputQueue;
  readonly #events: TypedEvents<AgentEvents>;
  readonly #host: TurnHost;
  /** Each takes the next input when its time comes. */
  readonly #scheduled = new Set<Promise<void>>();
  /** Those that have not taken one. */
  #free = 0;
  /** False until the host uses the queue in this process, and after a failed turn: then nothing runs by itself. */
  #isActive = false;
  #failure: { readonly thrown: unknown } | null = null;

  constructor(memory: MemoryManager, clock: Clock, events: TypedEvents<AgentEvents>, host: TurnHost) {
    this.#queue = new InputQueue(memory, clock);
    this.#events = events;
    this.#host = host;
  }

  /** See `Agent.enqueue`. */
  async enqueue(given: UserInput | string, options: EnqueueOptions): Promise<QueuedInput> {
    const { input, isNew } = await this.#queue.add(given, options);
    if (isNew) this.#events.emit('input_queued', { inputId: input.id, mode: input.mode });
    if (isNew && input.mode === 'interrupt') this.#host.interrupt();
    this.#activate(isNew && input.mode !== 'queue');
    return input;
  }

  async waiting(): Promise<QueuedInput[]> {
    await this.#queue.open();
    return this.#queue.waiting.map((input) => shown(input));
  }

  withdraw(id: string): Promise<boolean> {
    return this.#queue.withdraw(id);
  }

  /** Resolves when no input waits. @throws what a turn throws */
  async run(): Promise<void> {
    await this.#queue.open();
    this.#activate(false);
    while (this.#scheduled.size > 0) {
      await Promise.all(this.#scheduled);
      this.#host.assertRuns();
      if (this.#failure) throw this.#failure.thrown;
    }
  }

  /** Puts the inputs that steer into the running turn. Call it before a request. @throws as `InputQueue.take` */
  async steer(turnId: string): Promise<void> {
    while (this.#isActive && this.#queue.waiting.some(({ mode }) => mode === 'steer')) {
      const input = await this.#queue.next('steer');
      if (input) await this.#take(input, turnId);
    }
  }

  /** Resolves when no call is in progress. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  /** One place in the order of turns for each input. An urgent one has its own. */
  #activate(isUrgent: boolean): void {
    this.#isActive = true;
    this.#failure = null;
    if (isUrgent) this.#schedule(1);
    for (let missing = this.#queue.waiting.length - this.#free; missing > 0; missing -= 1) this.#schedule(0);
  }

  #schedule(priority: number): void {
    this.#free += 1;
    const place = this.#host.schedule(() => this.#runNext(), priority);
    this.#scheduled.add(place);
    void place.finally(() => this.#scheduled.delete(place));
  }

  /** Never rejects. After a failure, nothing runs until the host calls again: the next turn would fail, too. */
  async #runNext(): Promise<void> {
    let input: KnownInput | null = null;
    try {
      input = await this.#next();
      if (input) await this.#host.runTurn((turnId) => this.#take(input!, turnId));
    } catch (thrown) {
      this.#isActive = false;
      this.#failure = { thrown };
      this.#events.emit('input_failed', { inputId: input?.id ?? null, error: asRekindleError(thrown) });
    }
  }

  async #next(): Promise<KnownInput | null> {
    try {
      return this.#isActive && this.#host.isRunning() ? await this.#queue.next() : null;
    } finally {
      this.#free -= 1;
    }
  }

  async #take(input: KnownInput, turnId: string): Promise<void> {
    await this.#queue.take(input, turnId);
    this.#events.emit('input_taken', { inputId: input.id, mode: input.mode, turnId });
  }
}
