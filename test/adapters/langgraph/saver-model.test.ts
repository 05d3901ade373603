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
import { all, type Config, checkpointOf, metadataOf, recordsOf, thread } from './saver-kit.js';

const CHANNELS = ['a', 'b', 'c'];
const SPACES = ['', 'child'];
const THREADS = ['t1', '~t2'];
const COPIES = ['c1', '~c2'];
const ALL = [...THREADS, ...COPIES];
/** Each checkpoint is of one of so many runs. */
const RUNS = 4;
const WRITTEN = ['a', 'b', ERROR, INTERRUPT];
/** Characters of which some have their first bytes in common; and one text that makes a value a blob. */
const PIECES = ['x', 'é', 'è', '\u{1f600}', '\u{1f601}', '\u2028"', '\u0001'];
const LARGE = 'y'.repeat(70_000);

/** What becomes of a list of texts: one more, so many less, another one in the middle, or its last character. */
const edit = fc.oneof(
  { arbitrary: fc.record({ grow: fc.constantFrom(...PIECES), times: fc.nat(300) }), weight: 8 },
  { arbitrary: fc.record({ grow: fc.constant(LARGE), times: fc.constant(1) }), weight: 1 },
  { arbitrary: fc.record({ shrink: fc.nat(3) }), weight: 2 },
  { arbitrary: fc.record({ at: fc.nat(5), by: fc.constantFrom(...PIECES) }), weight: 2 },
  { arbitrary: fc.record({ end: fc.constantFrom(...PIECES) }), weight: 3 },
);

/** A small value, an edit of the value that is there, or none any more. */
const change = fc.oneof(
  { arbitrary: edit, weight: 4 },
  { arbitrary: fc.nat(2), weight: 1 },
  { arbitrary: fc.constant(null), weight: 1 },
);
const changes = fc.array(fc.tuple(fc.constantFrom(...CHANNELS), change), { maxLength: 3 });

/** How far back the checkpoint is that it goes on from, or that it replaces; and which channels change. */
const put = fc.record({ kind: fc.constant('put' as const), from: fc.nat(3), changes });
const replace = fc.record({ kind: fc.constant('replace' as const), from: fc.nat(3), changes });
const begin = fc.record({
  kind: fc.constant('begin' as const),
  thread: fc.constantFrom(...THREADS),
  ns: fc.constantFrom(...SPACES),
});
const write = fc.record({
  kind: fc.constant('write' as const),
  to: fc.nat(3),
  task: fc.constantFrom('t1', 't2'),
  path: fc.constantFrom('', 'p1', 'p2'),
  channels: fc.array(fc.constantFrom(...WRITTEN), { maxLength: 3 }),
});
const copy = fc.record({
  kind: fc.constant('copy' as const),
  thread: fc.constantFrom(...THREADS),
  to: fc.constantFrom(...COPIES),
});
const prune = fc.record({ kind: fc.constant('prune' as const), thread: fc.constantFrom(...ALL) });
const runs = fc.record({ kind: fc.constant('runs' as const), run: fc.nat(RUNS - 1) });
const drop = fc.record({ kind: fc.constant('drop' as const), thread: fc.constantFrom(...ALL) });
const restart = fc.record({ kind: fc.constant('restart' as const) });
const steps = fc.array(
  fc.oneof(
    { arbitrary: put, weight: 10 },
    { arbitrary: replace, weight: 1 },
    { arbitrary: begin, weight: 3 },
    { arbitrary: write, weight: 6 },
    { arbitrary: drop, weight: 1 },
    { arbitrary: copy, weight: 2 },
    { arbitrary: prune, weight: 1 },
    { arbitrary: runs, weight: 1 },
    { arbitrary: restart, weight: 2 },
  ),
  { minLength: 10, maxLength: 40 },
);

type Step = typeof steps extends fc.Arbitrary<(infer S)[]> ? S : never;
type Change = typeof change extends fc.Arbitrary<infer C> ? C : never;

/** Long enough for a delta. */
const FIRST = ['start '.repeat(100)];

function changed(value: unknown, how: Exclude<Change, null>): unknown {
  if (typeof how === 'number') return { value: how };
  const list = Array.isArray(value) ? (value as string[]) : FIRST;
  if ('grow' in how) return [...list, how.grow.repeat(how.times)];
  if ('shrink' in how) return list.slice(0, Math.max(0, list.length - how.shrink));
  if ('end' in how) return [...list.slice(0, -1), `${list.at(-1) ?? ''}${how.end}`];
  return list.map((text, index) => (index === how.at ? how.by + text : text));
}

interface Made {
  /** Of what it was made from, and of itself. */
  readonly before: Config;
  readonly config: Config;
  readonly checkpoint: Checkpoint;
}

type Place = [thread: string, ns: string, checkpoint: string];

function placeOf({ config }: Pick<CheckpointTuple, 'config'>): Place {
  const { thread_id: id, checkpoint_ns: ns, checkpoint_id: checkpoint } = config.configurable!;
  return [String(id), String(ns), String(checkpoint)];
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
    const from = step.kind === 'put' || step.kind === 'replace' ? this.#back(step.from) : undefined;
    if (from && step.kind === 'put') await this.#put(from.config, from.checkpoint, step.changes);
    if (from && step.kind === 'replace') {
      this.#made = this.#made.filter((made) => made !== from);
      await this.#put(from.before, from.checkpoint, step.changes, from.checkpoint.id);
    }
    if (step.kind === 'write') await this.#write(step);
    if (step.kind === 'drop') {
      for (const saver of [this.#ours, this.#theirs]) await saver.deleteThread(step.thread);
      this.#made = this.#made.filter(({ config }) => config.configurable?.['thread_id'] !== step.thread);
    }
    if (step.kind === 'copy') await this.#copy(step.thread, step.to);
    if (step.kind === 'prune') {
      await this.#ours.prune([step.thread]);
      for (const ns of SPACES) {
        const ids = Object.keys(this.#theirs.storage[step.thread]?.[ns] ?? {}).sort();
        this.#forget(ids.slice(0, -1).map((id) => [step.thread, ns, id]));
      }
    }
    if (step.kind === 'runs') {
      await this.#ours.deleteForRuns([`run-${step.run}`]);
      const gone = (await all(this.#theirs.list({}, { filter: { run_id: `run-${step.run}` } }))).map(placeOf);
      this.#forget(gone);
    }
    if (step.kind === 'restart') {
      await this.#ours.close();
      this.#ours = new RekindleSaver({ storage: this.#storage });
    }
  }

  /** What the saver in memory has no method for is done to its data. */
  #forget(places: readonly Place[]): void {
    for (const [id, ns, checkpoint] of places) {
      const spaces = this.#theirs.storage[id]!;
      delete spaces[ns]![checkpoint];
      if (Object.keys(spaces[ns]!).length === 0) delete spaces[ns];
      delete this.#theirs.writes[JSON.stringify([id, ns, checkpoint])];
    }
    const gone = new Set(places.map((place) => JSON.stringify(place)));
    this.#made = this.#made.filter(({ config }) => !gone.has(JSON.stringify(placeOf({ config }))));
  }

  /** Into a thread that has something, nothing is copied, also if it is the same as before. */
  async #copy(from: string, to: string): Promise<void> {
    const { storage, writes } = this.#theirs;
    const isFree = Object.keys(storage[to] ?? {}).length === 0;
    const copying = this.#ours.copyThread(from, to);
    if (!isFree) return copying.catch(({ code }) => expect(code).toBe('SESSION_EXISTS'));
    await copying;
    if (!storage[from]) return;
    storage[to] = structuredClone(storage[from]);
    for (const [key, rows] of Object.entries(writes)) {
      const [id, ns, checkpoint] = JSON.parse(key) as Place;
      if (id === from) writes[JSON.stringify([to, ns, checkpoint])] = structuredClone(rows);
    }
    const inCopy = ({ configurable }: Config) => ({ configurable: { ...configurable, thread_id: to } });
    const copied = this.#made.filter(({ config }) => config.configurable?.['thread_id'] === from);
    for (const made of copied)
      this.#made.push({ ...made, before: inCopy(made.before), config: inCopy(made.config) });
  }

  /** One of the last ones that were made. */
  #back(count: number): Made | undefined {
    return this.#made.at(-1 - count) ?? this.#made[0];
  }

  /**
   * Versions count on from those of the parent, as in a graph: two branches use the same ones. What replaces a checkpoint has one of its
   * own: else a child's unchanged channel, which has the value of its parent, would have another one.
   */
  async #put(
    config: Config,
    parent: Checkpoint | null,
    changes: [string, Change][],
    id?: string,
  ): Promise<void> {
    const versions = new Map(Object.entries(parent?.channel_versions ?? {}));
    const values = new Map(Object.entries(parent?.channel_values ?? {}));
    const newest = Math.max(0, ...[...versions.values()].map(Number));
    const next = id === undefined ? newest + 1 : newest + 1_000 * this.#count;
    for (const [channel, how] of changes) {
      versions.set(channel, next);
      if (how === null) values.delete(channel);
      else values.set(channel, changed(values.get(channel), how));
    }
    const made = checkpointOf(
      Object.fromEntries(values),
      Object.fromEntries(versions) as Record<string, number>,
    );
    const checkpoint = id === undefined ? made : { ...made, id };
    const newVersions = Object.fromEntries(changes.map(([channel]) => [channel, next]));
    const metadata = metadataOf(this.#count, { run_id: `run-${this.#count % RUNS}` });
    const saver = this.#count % 5 === 0 ? this.#second : this.#ours;
    const stored = await saver.put(config, checkpoint, metadata, newVersions);
    await this.#theirs.put(config, checkpoint, metadata);
    this.#made.push({ before: config, config: stored, checkpoint });
  }

  async #write({ to, task, path, channels }: Extract<Step, { kind: 'write' }>): Promise<void> {
    const made = this.#back(to);
    if (!made) return;
    const writes = channels.map((channel, n): [string, string] => [channel, `${this.#count}-${n}`]);
    for (const saver of [this.#ours, this.#theirs]) await saver.putWrites(made.config, writes, task, path);
  }

  async compare(): Promise<void> {
    const keyOf = (tuple: CheckpointTuple) => placeOf(tuple).reverse().join(' ');
    const byId = (tuples: CheckpointTuple[]) => tuples.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    const theirs = byId(await all(this.#theirs.list({})));
    const fresh = new RekindleSaver({ storage: this.#storage });
    for (const saver of [this.#ours, this.#second, fresh])
      expect(byId(await all(saver.list({})))).toEqual(theirs);
    await fresh.close();
    for (const id of ALL)
      for (const ns of SPACES)
        expect(await this.#ours.getTuple(thread(id, ns))).toEqual(
          await this.#theirs.getTuple(thread(id, ns)),
        );
  }

  async deltas(): Promise<number> {
    const records = await Promise.all(ALL.map((id) => recordsOf(this.#storage, id)));
    return JSON.stringify(records).split('"delta":').length - 1;
  }

  async close(): Promise<void> {
    await this.#ours.close();
    await this.#second.close();
    await this.#storage.close();
  }
}

it('the LangGraph saver tells the same as the one in memory', async () => {
  let [compared, deltas] = [0, 0];
  const history = fc.asyncProperty(steps, async (list) => {
    const pair = new Pair();
    try {
      for (const step of list) await pair.do(step);
      await pair.compare();
      compared += 1;
      deltas += await pair.deltas();
    } finally {
      await pair.close();
    }
  });
  const parameters = runParameters('LangGraph saver', 30);
  await fc.assert(history, parameters);
  expect(compared).toBeGreaterThan(0);
  if (compared >= 20) expect(deltas).toBeGreaterThan(0); // few histories may be too short for one
});

it('a channel that one branch deleted does not get the value that another branch has under the same version', async () => {
  const pair = new Pair();
  const list: Step[] = [
    { kind: 'begin', thread: 't1', ns: '' },
    { kind: 'put', from: 0, changes: [['c', null]] },
    { kind: 'restart' },
    { kind: 'put', from: 1, changes: [['c', { end: 'x' }]] },
    { kind: 'replace', from: 1, changes: [] },
    { kind: 'put', from: 0, changes: [] },
    { kind: 'put', from: 0, changes: [] },
  ];
  try {
    for (const step of list) await pair.do(step);
    await pair.compare();
  } finally {
    await pair.close();
  }
});
