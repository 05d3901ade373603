/** Random histories with forks, beside LangGraph's own saver in memory: both tell the same of every checkpoint. */
import {
  type Checkpoint,
  type CheckpointTuple,
  ERROR,
  INTERRUPT,
  MemorySaver,
} from '@langchain/langgraph-checkpoint';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RekindleSaver } from '../../../src/adapters/langgraph/index.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { runParameters } from '../../property/seed.js';
import { all, type Config, checkpointOf, metadataOf, thread } from './saver-kit.js';

const CHANNELS = ['a', 'b', 'c'];
const SPACES = ['', 'child'];
const WRITTEN = ['a', 'b', ERROR, INTERRUPT];

/** How far back the checkpoint is that it goes on from; which channels change, and to what: null takes the value away. */
const put = fc.record({
  kind: fc.constant('put' as const),
  from: fc.nat(3),
  changes: fc.array(fc.tuple(fc.constantFrom(...CHANNELS), fc.option(fc.nat(2))), { maxLength: 3 }),
});
const begin = fc.record({
  kind: fc.constant('begin' as const),
  thread: fc.constantFrom('t1', '~t2'),
  ns: fc.constantFrom(...SPACES),
});
const write = fc.record({
  kind: fc.constant('write' as const),
  to: fc.nat(3),
  task: fc.constantFrom('t1', 't2'),
  path: fc.constantFrom('', 'p1', 'p2'),
  channels: fc.array(fc.constantFrom(...WRITTEN), { maxLength: 3 }),
});
const drop = fc.record({ kind: fc.constant('drop' as const), thread: fc.constantFrom('t1', '~t2') });
const restart = fc.record({ kind: fc.constant('restart' as const) });
const steps = fc.array(
  fc.oneof(
    { arbitrary: put, weight: 10 },
    { arbitrary: begin, weight: 3 },
    { arbitrary: write, weight: 6 },
    { arbitrary: drop, weight: 1 },
    { arbitrary: restart, weight: 2 },
  ),
  { minLength: 10, maxLength: 40 },
);

type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;

interface Made {
  readonly config: Config;
  readonly checkpoint: Checkpoint;
}

class Pair {
  readonly #storage = new MemoryStorage();
  readonly #theirs = new MemorySaver();
  readonly #second = new RekindleSaver({ storage: this.#storage });
  #ours = new RekindleSaver({ storage: this.#storage });
  #made: Made[] = [];
  #count = 0;

  async do(step: Step): Promise<void> {
    this.#count += 1;
    if (step.kind === 'begin') await this.#put(thread(step.thread, step.ns), null, [['a', 0]]);
    if (step.kind === 'put') await this.#putAfter(this.#back(step.from), step.changes);
    if (step.kind === 'write') await this.#write(step);
    if (step.kind === 'drop') {
      for (const saver of [this.#ours, this.#theirs]) await saver.deleteThread(step.thread);
      this.#made = this.#made.filter(({ config }) => config.configurable?.['thread_id'] !== step.thread);
    }
    if (step.kind === 'restart') {
      await this.#ours.close();
      this.#ours = new RekindleSaver({ storage: this.#storage });
    }
  }

  /** One of the last ones that were made. */
  #back(count: number): Made | undefined {
    return this.#made.at(-1 - count) ?? this.#made[0];
  }

  async #putAfter(from: Made | undefined, changes: [string, number | null][]): Promise<void> {
    if (from) await this.#put(from.config, from.checkpoint, changes);
  }

  /** Versions count on from those of the parent, as in a graph: two branches use the same ones. */
  async #put(config: Config, parent: Checkpoint | null, changes: [string, number | null][]): Promise<void> {
    const versions = new Map(Object.entries(parent?.channel_versions ?? {}));
    const values = new Map(Object.entries(parent?.channel_values ?? {}));
    const next = Math.max(0, ...[...versions.values()].map(Number)) + 1;
    for (const [channel, value] of changes) {
      versions.set(channel, next);
      if (value === null) values.delete(channel);
      else values.set(channel, { value });
    }
    const checkpoint = checkpointOf(
      Object.fromEntries(values),
      Object.fromEntries(versions) as Record<string, number>,
    );
    const changed = Object.fromEntries(changes.map(([channel]) => [channel, next]));
    const saver = this.#count % 10 === 0 ? this.#second : this.#ours;
    const made = await saver.put(config, checkpoint, metadataOf(this.#count), changed);
    await this.#theirs.put(config, checkpoint, metadataOf(this.#count));
    this.#made.push({ config: made, checkpoint });
  }

  async #write({ to, task, path, channels }: Extract<Step, { kind: 'write' }>): Promise<void> {
    const made = this.#back(to);
    if (!made) return;
    const writes = channels.map((channel, n): [string, string] => [channel, `${this.#count}-${n}`]);
    for (const saver of [this.#ours, this.#theirs]) await saver.putWrites(made.config, writes, task, path);
  }

  async compare(): Promise<void> {
    const byId = (tuples: CheckpointTuple[]) =>
      tuples.sort((a, b) => (a.checkpoint.id < b.checkpoint.id ? -1 : 1));
    const theirs = byId(await all(this.#theirs.list({})));
    for (const saver of [this.#ours, this.#second]) expect(byId(await all(saver.list({})))).toEqual(theirs);
    for (const id of ['t1', '~t2'])
      for (const ns of SPACES)
        expect(await this.#ours.getTuple(thread(id, ns))).toEqual(
          await this.#theirs.getTuple(thread(id, ns)),
        );
  }

  async close(): Promise<void> {
    await this.#ours.close();
    await this.#second.close();
    await this.#storage.close();
  }
}

it('the LangGraph saver tells the same as the one in memory', async () => {
  let compared = 0;
  const history = fc.asyncProperty(steps, async (list) => {
    const pair = new Pair();
    try {
      for (const step of list) await pair.do(step);
      await pair.compare();
      compared += 1;
    } finally {
      await pair.close();
    }
  });
  const parameters = runParameters('LangGraph saver', 30);
  await fc.assert(history, parameters);
  expect(compared).toBeGreaterThan(0);
});
