import PQueue from 'p-queue';
import { systemClock } from '../core/clock.js';
import { isRekindleError, RekindleError } from '../core/errors.js';
import { TypedEvents } from '../core/events.js';
import type { UserInput } from '../memory/memory-input.js';
import type { MemoryManager } from '../memory/memory-manager.js';
import type { RestoreReport } from '../memory/restore/restore-report.js';
import type { Message } from '../messages/message.js';
import type { AgentEvent, AgentEvents, AgentStatus, TurnResult } from './agent-events.js';
import type { BootstrapStep } from './bootstrap-steps/bootstrap-step.js';
import type { AgentContext } from './context/agent-context.js';
import type { AgentFork, ForkOptions } from './forks/fork-agent.js';
import type { EnqueueOptions } from './inputs/input-queue.js';
import type { InputRunner } from './inputs/input-runner.js';
import type { QueuedInput } from './inputs/input-table.js';
import { EventStream } from './loop/event-stream.js';
import { TurnLoop } from './loop/turn-loop.js';
import { AgentStopped } from './tools/agent-stopped.js';
import { closeOpenCalls } from './tools/close-open-calls.js';
import { onAbort } from './tools/on-abort.js';

/** Options of one turn. */
export interface TurnOptions {
  /** Cancels the turn. Text received before the abort stays in the context. */
  readonly signal?: AbortSignal;
}

type RunTurn = (loop: TurnLoop, signal: AbortSignal) => Promise<TurnResult>;

/** Options of `Agent.stop`. */
export interface StopOptions {
  /** How long the current turn may continue before it is cancelled. Default 5,000 ms. */
  readonly graceMs?: number;
  /**
   * Leave calls open that wait for a person's approval, so that `resume()` in the next process asks again.
   * Default true.
   */
  readonly keepPendingApprovals?: boolean;
}

/**
 * An agent whose conversation survives its process. `createAgent`, `openAgent` and `restoreAgent` make it. It
 * does nothing before `start()`.
 *
 *     const agent = createAgent({ agentId: 'support-42', model });
 *     await agent.start();
 *     const { text } = await agent.send('Hello');
 *     await agent.stop();
 */
export class Agent {
  readonly agentId: string;
  /** Status changes, text deltas, tool calls and results; see `AgentEvents`. */
  readonly events = new TypedEvents<AgentEvents>();
  readonly #context: AgentContext;
  readonly #steps: readonly BootstrapStep[];
  /** Runs turns one after the other. */
  readonly #turns = new PQueue({ concurrency: 1 });
  readonly #stop = new AbortController();
  /** Aborts the running turn; null between turns. */
  #running: AbortController | null = null;
  #status: AgentStatus = 'created';
  /** Null before the queue of inputs is used. */
  #inputs: Promise<InputRunner> | null = null;
  #runner: InputRunner | null = null;
  readonly #steer = (turnId: string) => this.#runner?.steer(turnId);
  #loop: TurnLoop | null = null;
  #starting: Promise<void> | null = null;
  #stopping: Promise<void> | null = null;

  constructor(context: AgentContext, steps: readonly BootstrapStep[]) {
    this.agentId = context.agentId;
    this.#context = context;
    this.#steps = steps;
  }

  get status(): AgentStatus {
    return this.#status;
  }

  /** What the restore found and changed; null for a new agent. */
  get restoreReport(): RestoreReport | null {
    return this.#context.state.report;
  }

  /** The agent's memory. @throws AGENT_STATE before `start()` */
  get memory(): MemoryManager {
    return this.#context.memory;
  }

  /** The messages of the next model request. */
  get messages(): Message[] {
    return this.memory.getWorkingContextMessages();
  }

  /**
   * Runs the bootstrap steps. Repeated calls return the same promise until the agent is stopped.
   * @throws AGENT_EXISTS, AGENT_NOT_FOUND, LEASE_HELD, TOOL_INVALID, CONTEXT_BLANK, AGENT_STATE after stop(),
   * ...
   */
  start(): Promise<void> {
    if (this.#stopping) return Promise.reject(this.#wrongState());
    this.#starting ??= this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    this.#setStatus('starting');
    try {
      for (const step of this.#steps) await step.execute(this.#context);
      await this.#begin();
    } catch (thrown) {
      this.#setStatus('failed');
      await this.#context.close().catch(() => {}); // report the first error
      throw thrown;
    }
    this.#loop = new TurnLoop(this.memory, this.#context.registry, this.#context.config, this.events);
    this.#loop.recordInterrupted(this.restoreReport?.interruptedCalls ?? []);
    this.#watchLease();
    this.#setStatus('idle');
    if (this.restoreReport) this.events.emit('restored', { report: this.restoreReport });
  }

  /** A new agent gets its system prompt, even with a custom list of steps. */
  async #begin(): Promise<void> {
    const { memory, restoreOptions, systemPrompt } = this.#context.state;
    if (restoreOptions === null) await memory?.memory.begin(systemPrompt ?? '');
  }

  #watchLease(): void {
    const lost = this.#context.state.memory?.lease?.lost;
    lost?.addEventListener('abort', () => {
      this.#setStatus('lease_lost');
      this.#stop.abort(lost.reason);
    });
  }

  /**
   * Sends a message and runs its turn. Turns run one after the other. The answer is durable when it resolves.
   * @throws MODEL_FAILED, LEASE_LOST, AGENT_STATE, ...
   */
  send(input: UserInput | string, options: TurnOptions = {}): Promise<TurnResult> {
    return this.#send(input, options, () => {});
  }

  #send(
    input: UserInput | string,
    options: TurnOptions,
    onTurn: (turnId: string) => void,
  ): Promise<TurnResult> {
    return this.#turn(options, async (loop, signal) => {
      return this.#newTurn(loop, signal, (turnId) => {
        onTurn(turnId);
        return this.memory.ingestUserMessage(input, turnId);
      });
    });
  }

  async #newTurn(
    loop: TurnLoop,
    signal: AbortSignal,
    begin: (turnId: string) => Promise<void>,
  ): Promise<TurnResult> {
    await closeOpenCalls(this.memory);
    const turnId = this.memory.startTurn();
    await begin(turnId);
    this.events.emit('turn_started', { turnId, resumed: false });
    return loop.run(turnId, signal, this.#steer);
  }

  /**
   * Stores a message in the queue of inputs. It is durable when this resolves, and becomes a user message once, also if the
   * process is killed. It runs by itself: as a turn of its own, in the running turn, or in place of it (`mode`).
   * @throws MESSAGE_INVALID, INVALID_ARGUMENT for an id that was stored with another message, LIMIT_EXCEEDED if too many wait,
   * LEASE_LOST, AGENT_STATE, ...
   */
  async enqueue(input: UserInput | string, options: EnqueueOptions = {}): Promise<QueuedInput> {
    return (await this.#inputRunner()).enqueue(input, options);
  }

  /** The inputs that wait, in the order in which they run. Runs none. @throws AGENT_STATE, and what storage throws */
  async queuedInputs(): Promise<readonly QueuedInput[]> {
    return (await this.#inputRunner()).waiting();
  }

  /** Takes an input out of the queue, durably. False if it does not wait. @throws LEASE_LOST, AGENT_STATE, ... */
  async withdraw(inputId: string): Promise<boolean> {
    return (await this.#inputRunner()).withdraw(inputId);
  }

  /**
   * Runs the inputs that wait, and resolves when none does. Needed after a restart, because `start()` runs nothing, and after
   * a failed turn of the queue. Call `resume()` first if a turn was interrupted.
   * @throws what a turn throws; then the other inputs still wait
   */
  async runQueued(): Promise<void> {
    await (await this.#inputRunner()).run();
  }

  async #inputRunner(): Promise<InputRunner> {
    this.#assertRuns();
    this.#inputs ??= import('./inputs/input-runner.js').then(({ InputRunner }) => {
      const clock = this.#context.config.clock ?? systemClock;
      this.#runner = new InputRunner(this.memory, clock, this.events, {
        schedule: (work, priority) => this.#turns.add(work, { priority }),
        runTurn: (begin) => this.#runTurn({}, (loop, signal) => this.#newTurn(loop, signal, begin)),
        interrupt: () => this.#running?.abort(),
        isRunning: () => this.#status === 'idle' || this.#status === 'running',
        assertRuns: () => this.#assertRuns(),
      });
      return this.#runner;
    });
    const runner = await this.#inputs;
    this.#assertRuns();
    return runner;
  }

  /**
   * Makes a new agent with this one's context, facts and state as they were after a turn or a record. This one does not change and may be in
   * the middle of a turn. Durable when it resolves; see `forkAgent`.
   * @throws as `forkAgent`, AGENT_STATE before `start()`
   */
  async fork(options: ForkOptions = {}): Promise<AgentFork> {
    if (this.#status === 'created' || this.#status === 'starting') throw this.#wrongState();
    const { forkAgent } = await import('./forks/fork-agent.js');
    return forkAgent(this.#context.storage, this.agentId, options);
  }

  /** Like `send`, but yields the turn's events as they occur. Leaving the loop early cancels the turn. */
  stream(input: UserInput | string, options: TurnOptions = {}): AsyncIterable<AgentEvent> {
    return new EventStream(
      this.events,
      (signal, onTurn) => this.#send(input, { signal }, onTurn),
      options.signal,
    );
  }

  /**
   * Continues a turn that was interrupted by a crash, by a failed model, or by a cancellation before any
   * text. Runs calls that were left open for an approval, then asks the model.
   * @throws AGENT_STATE when no turn was interrupted
   */
  resume(options: TurnOptions = {}): Promise<TurnResult> {
    return this.#turn(options, async (loop, signal) => {
      const { kind, turnId } = this.memory.frontier;
      if (kind === 'idle') {
        throw new RekindleError('AGENT_STATE', 'No turn was interrupted.', {
          details: { status: this.#status, frontier: kind },
        });
      }
      const turn = turnId ?? this.memory.startTurn();
      this.events.emit('turn_started', { turnId: turn, resumed: true });
      const open = this.memory.openCalls();
      for (const call of open) await loop.runCalls([call.call], call.turnId ?? turn, signal);
      return loop.run(turn, signal, this.#steer);
    });
  }

  async #turn(options: TurnOptions, run: RunTurn): Promise<TurnResult> {
    this.#assertRuns();
    return this.#turns.add(() => this.#runTurn(options, run));
  }

  async #runTurn(options: TurnOptions, run: RunTurn): Promise<TurnResult> {
    this.#assertRuns();
    const running = new AbortController();
    const forget = onAbort(this.#stop.signal, () => running.abort(this.#stop.signal.reason));
    const signal = options.signal ? AbortSignal.any([options.signal, running.signal]) : running.signal;
    this.#running = running;
    this.#setStatus('running');
    try {
      const result = await this.#measured(() => run(this.#loop!, signal));
      if (result.status === 'aborted') this.#throwIfLeaseLost(); // no caller cancelled it: the lease was lost
      this.events.emit('turn_ended', result);
      return result;
    } catch (thrown) {
      if (isRekindleError(thrown, 'LEASE_LOST')) this.#setStatus('lease_lost');
      throw thrown;
    } finally {
      forget();
      this.#running = null;
      if (this.#status === 'running') this.#setStatus('idle');
    }
  }

  async #measured(run: () => Promise<TurnResult>): Promise<TurnResult> {
    const { telemetry } = this.#context.storage;
    if (!telemetry) return run();
    const { measuredTurn } = await import('./loop/measured-turn.js');
    return measuredTurn(telemetry, this.agentId, run);
  }

  #assertRuns(): void {
    if (this.#status === 'lease_lost') this.#throwIfLeaseLost();
    if (this.#status !== 'idle' && this.#status !== 'running') throw this.#wrongState();
  }

  #throwIfLeaseLost(): void {
    const reason = this.#context.state.memory?.lease?.lost.reason;
    if (isRekindleError(reason)) throw reason;
  }

  #wrongState(): RekindleError {
    return new RekindleError('AGENT_STATE', `The agent ${this.agentId} is ${this.#status}.`, {
      details: { agentId: this.agentId, status: this.#status },
    });
  }

  /**
   * Lets the current turn finish, flushes, closes and releases the lease. It may be called again; the shorter
   * grace time then applies.
   */
  async stop(options: StopOptions = {}): Promise<void> {
    const keep = options.keepPendingApprovals ?? true;
    const abort = () => this.#stop.abort(new AgentStopped(keep));
    const timer = setTimeout(abort, options.graceMs ?? 5_000);
    this.#stopping ??= this.#shutDown();
    try {
      await this.#stopping;
    } finally {
      clearTimeout(timer);
    }
  }

  async #shutDown(): Promise<void> {
    await this.#starting?.catch(() => {}); // start() reported it to its caller
    if (this.#status === 'created' || this.#status === 'failed') {
      if (this.#status === 'created') await this.#context.close();
      this.#setStatus('stopped');
      return;
    }
    const fenced = this.#status === 'lease_lost';
    if (!fenced) this.#setStatus('stopping');
    await this.#turns.onIdle();
    await (await this.#inputs)?.idle();
    await this.#loop?.flush();
    if (!fenced) await this.memory.persistWorkingContextSnapshot();
    try {
      await this.#context.close();
    } finally {
      this.#setStatus('stopped'); // if closing failed, the lease was already released
    }
  }

  #setStatus(to: AgentStatus): void {
    const from = this.#status;
    if (from === to) return;
    this.#status = to;
    this.events.emit('status_changed', { from, to });
  }
}
