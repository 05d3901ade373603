/**
 * Inputs of the durable queue. After a crash every acknowledged input is there once: it waits, or it is a message of the
 * context. When the rest has run, each is in the context once, and no input waits.
 */
import { InputQueue } from '../../../src/agent/inputs/input-queue.js';
import type { InputMode } from '../../../src/agent/inputs/input-table.js';
import type { MemoryManager } from '../../../src/memory/memory-manager.js';
import { textOf } from '../../../src/messages/message.js';
import {
  demand,
  type Process,
  type RebootedProcess,
  type RunningProcess,
  type Session,
  type Workload,
} from '../workload.js';
import { closeAgent, type OpenedAgent, openAgent } from './opened-agent.js';

const MODES: readonly InputMode[] = ['queue', 'steer', 'interrupt'];

interface OpenedQueue extends OpenedAgent {
  readonly queue: InputQueue;
}

async function open(process: Process): Promise<OpenedQueue> {
  const agent = await openAgent(process, { compaction: null });
  return { ...agent, queue: new InputQueue(agent.opened.memory, process.clock) };
}

class QueueSession implements Session {
  readonly #process: RunningProcess;
  #running: OpenedQueue;
  #count: number;

  constructor(process: RunningProcess, running: OpenedQueue) {
    this.#process = process;
    this.#running = running;
    this.#count = process.history.at(Number.POSITIVE_INFINITY).length;
  }

  async apply(operation: string): Promise<void> {
    if (operation === 'restart') {
      await closeAgent(this.#running);
      this.#running = await open(this.#process);
    } else if (operation === 'add') await this.#add();
    else if (operation === 'add two') await Promise.all([this.#add(), this.#add()]);
    else if (operation === 'take') await this.#take();
    else await this.#withdraw();
  }

  async #add(): Promise<void> {
    this.#count += 1;
    const id = `i${this.#count}`;
    const ack = this.#process.history.begin({ kind: 'add', id });
    await this.#running.queue.add(id, { id, mode: MODES[this.#count % MODES.length]! });
    ack();
  }

  async #take(): Promise<void> {
    const { queue, opened } = this.#running;
    const input = await queue.next();
    if (!input) return;
    const ack = this.#process.history.begin({ kind: 'take', id: input.id });
    await queue.take(input, opened.memory.startTurn());
    ack();
  }

  async #withdraw(): Promise<void> {
    const { queue } = this.#running;
    await queue.open();
    const [input] = queue.waiting;
    if (!input) return;
    const ack = this.#process.history.begin({ kind: 'withdraw', id: input.id });
    await queue.withdraw(input.id);
    ack();
  }

  async dispose(): Promise<void> {
    await this.#running.queue.idle();
    await closeAgent(this.#running);
  }
}

function inContext(memory: MemoryManager): string[] {
  return memory
    .getWorkingContextMessages()
    .filter(({ role }) => role === 'user')
    .map(textOf);
}

async function check(process: RebootedProcess): Promise<void> {
  const restored = await open(process);
  const { queue, opened } = restored;
  await queue.open();
  const wait = queue.waiting.map(({ id }) => id);
  const said = inContext(opened.memory);
  const all = [...said, ...wait];
  const ids = new Set(process.facts.map(({ fact }) => String(fact['id'])));
  for (const id of ids) {
    const [isAdded, isTaken, isOut] = ['add', 'take', 'withdraw'].map((kind) =>
      process.facts.some(({ fact, acked }) => fact['kind'] === kind && fact['id'] === id && acked !== null),
    );
    const mayBeOut = process.facts.some(({ fact }) => fact['kind'] === 'withdraw' && fact['id'] === id);
    const times = all.filter((one) => one === id).length;
    demand(times <= 1, () => `the input ${id} is there ${times} times`);
    demand(!isAdded || mayBeOut || times === 1, () => `the input ${id} is lost`);
    demand(!isOut || times === 0, () => `the input ${id} was withdrawn and is there`);
    demand(!isTaken || said.includes(id), () => `the input ${id} was taken and is not in the context`);
  }
  for (const id of all) demand(ids.has(id), () => `nobody added ${id}`);
  for (let input = await queue.next(); input; input = await queue.next())
    await queue.take(input, opened.memory.startTurn());
  const expected = inContext(opened.memory);
  demand(expected.toSorted().join() === all.toSorted().join(), () => `${expected} ran, expected ${all}`);
  await queue.idle();
  await closeAgent(restored);
  const again = await open(process.next());
  await again.queue.open();
  const left = again.queue.waiting.map(({ id }) => id);
  const found = inContext(again.opened.memory);
  await closeAgent(again);
  demand(
    left.length === 0 && found.join() === expected.join(),
    () => `${found} after a second restart, ${left} wait`,
  );
}

export const queuedInputs: Workload = {
  name: 'queued-inputs',
  alphabet: ['add', 'add two', 'take', 'withdraw', 'restart'],
  start: async (process) => new QueueSession(process, await open(process)),
  check,
};
