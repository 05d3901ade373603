/**
 * A durable document that is counted up, by one process after the other. After a crash the count is what was acknowledged, or one
 * more for each update that was under way; every version is in the history; the file says the same as the journal; and nobody is
 * taken for a person.
 */
import type { JsonObject } from '../../../src/core/json.js';
import type { StateManager } from '../../../src/state/durable/state-manager.js';
import { StateManager as Manager } from '../../../src/state/durable/state-manager.js';
import { LocalObjects, ObjectsStorage } from '../../../src/storage/objects/index.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import type { Fact } from '../history.js';
import {
  demand,
  openStorage,
  type Process,
  type RebootedProcess,
  type RunningProcess,
  type Session,
  STORE,
  type Workload,
  withStorage,
} from '../workload.js';

interface Counter {
  schema_version: 1;
  count: number;
  note: string;
}

const schema = {
  type: 'object',
  required: ['schema_version', 'count', 'note'],
  properties: { schema_version: { const: 1 }, count: { type: 'integer' }, note: { type: 'string' } },
};
/** Long enough for steps to be stored in place of the value. */
const initial: Counter = { schema_version: 1, count: 0, note: 'x'.repeat(300) };

type Open = (process: Process) => StorageBackend;

function withCounter<T>(
  process: Process,
  open: Open,
  run: (state: StateManager<Counter>) => Promise<T>,
): Promise<T> {
  const make = (backend: StorageBackend) =>
    new Manager<Counter>({ name: 'counter', schema, initial, backend, clock: process.clock });
  return withStorage(process, make, run, {}, open);
}

class StateSession implements Session {
  readonly #process: RunningProcess;
  readonly #open: Open;

  constructor(process: RunningProcess, open: Open) {
    this.#process = process;
    this.#open = open;
  }

  /** Opened and closed each time: then no timer of this process decides what is on the disk. */
  async apply(operation: string): Promise<void> {
    const times = operation === 'burst' ? 3 : 1;
    await withCounter(this.#process, this.#open, async (state) => {
      const updates = Array.from({ length: times }, () => this.#update(state, operation === 'whole'));
      await Promise.all(updates);
    });
  }

  async #update(state: StateManager<Counter>, whole: boolean): Promise<void> {
    await state.load();
    this.#process.clock.advance(1);
    const ack = this.#process.history.begin({ kind: 'update' });
    const { value, version } = await state.update((draft) => {
      draft.count += 1;
      if (whole) draft.note = String(draft.count).repeat(300);
    });
    ack({ count: value.count, version });
  }

  async dispose(): Promise<void> {}
}

function boundsOf(facts: readonly Fact[]): { readonly least: number; readonly most: number } {
  const acked = facts.map((fact) => Number(fact.acked?.['count'] ?? 0));
  return { least: Math.max(0, ...acked), most: facts.length };
}

async function checkState(process: RebootedProcess, open: Open): Promise<void> {
  const { least, most } = boundsOf(process.facts);
  const count = await withCounter(process, open, async (state) => {
    const { value, version } = await state.load();
    demand(
      value.count >= least && value.count <= most,
      () => `count ${value.count}, expected ${least} to ${most}`,
    );
    await checkHistory(state, version, value.count);
    await checkFile(process, open, value, version);
    process.clock.advance(1);
    const after = await state.update((draft) => void (draft.count += 1));
    return after.value.count;
  });
  await withCounter(process.next(), open, async (state) => {
    const { value } = await state.load();
    demand(value.count === count, () => `an update after recovery did not last: ${value.count}`);
  });
}

/** A record that was under way may be left as damage in the middle: its version is then not used again. */
async function checkHistory(state: StateManager<Counter>, version: number, count: number): Promise<void> {
  let before = version + 1;
  let updates = 0;
  for await (const event of state.history()) {
    demand(event.version < before, () => `version ${event.version} comes before ${before}`);
    demand(event.by !== 'human', () => `version ${event.version} is taken for a person's`);
    before = event.version;
    if (event.event === 'updated') updates += 1;
  }
  demand(updates === count, () => `${updates} updates in the history lead to a count of ${count}`);
}

async function checkFile(process: Process, open: Open, value: Counter, version: number): Promise<void> {
  const storage = open(process);
  const file = await storage.documents.read(['state', 'counter.json']);
  await storage.close();
  const { _shows: shows = {}, ...document } = (file?.value ?? {}) as JsonObject;
  demand(
    JSON.stringify(document) === JSON.stringify(value),
    () => 'the file says something else than the journal',
  );
  demand((shows as JsonObject)['version'] === version, () => 'the file does not show the newest version');
}

function stateOn(name: string, open: Open): Workload {
  return {
    name,
    alphabet: ['update', 'whole', 'burst'],
    start: async (process) => new StateSession(process, open),
    check: (process) => checkState(process, open),
  };
}

/** A folder of objects on the same disk: journals as numbered objects, documents and leases by compare-and-set. */
function openObjects({ fs: fileSystem, clock, identity }: Process): StorageBackend {
  const machine = { fileSystem, clock, identity };
  return new ObjectsStorage(new LocalObjects(STORE, machine), { clock, identity, mergeAt: 3 });
}

export const state = stateOn('state', openStorage);
export const stateOnObjects = stateOn('state-on-objects', openObjects);
