/**
 * Documents written, replaced, deleted and set aside: after a crash the old content or the new, never a mix. A cached
 * one may be lost or damaged, but is never torn unnoticed. A version never stands for two values.
 */
import { isRekindleError } from '../../../src/core/errors.js';
import type { JsonValue } from '../../../src/core/json.js';
import type { SimulatedDisk } from '../../../src/storage/simulated/simulated-disk.js';
import type { Fact } from '../history.js';
import {
  demand,
  openStorage,
  type RebootedProcess,
  type RunningProcess,
  type Session,
  STORE,
  type Workload,
} from '../workload.js';
import { assertNothingDestroyed } from './nothing-destroyed.js';

const DOCUMENTS = ['a', 'b'];
const nameOf = (id: string) => ['docs', id];
const FOREIGN = `${STORE}/docs/README.txt`;

class DocumentSession implements Session {
  readonly #process: RunningProcess;
  readonly #storage: ReturnType<typeof openStorage>;
  readonly #values = new Map<string, string>();
  #count = 0;

  constructor(process: RunningProcess) {
    this.#process = process;
    this.#storage = openStorage(process);
  }

  async apply(operation: string): Promise<void> {
    const [kind, id] = operation.split(' ') as [string, string];
    if (kind === 'write') await this.#write(id, this.#newValue(), 'durable');
    else if (kind === 'long')
      await this.#write(id, { ...this.#newValue(), filler: 'x'.repeat(700) }, 'durable');
    else if (kind === 'cache') await this.#write(id, this.#newValue(), 'cache');
    else if (kind === 'number') await this.#write(id, 1_000_000 + this.#next(), 'cache');
    else if (kind === 'swap') await this.#swap(id);
    else if (kind === 'delete') await this.#delete(id);
    else if (kind === 'aside') await this.#setAside(id);
    else demand(false, () => `unknown operation ${operation}`);
  }

  dispose(): Promise<void> {
    return this.#storage.close();
  }

  #next(): number {
    return 100 * this.#process.identity.owner().pid + ++this.#count;
  }

  #newValue(): { n: number } {
    return { n: this.#next() };
  }

  async #write(
    id: string,
    value: JsonValue,
    durability: 'durable' | 'cache',
    ifVersion?: string | null,
  ): Promise<void> {
    const ack = this.#process.history.begin({ kind: durability, id, value });
    const options = ifVersion === undefined ? { durability } : { durability, ifVersion };
    const { version } = await this.#storage.documents.write(nameOf(id), value, options);
    ack();
    const known = this.#values.get(version) ?? JSON.stringify(value);
    demand(
      known === JSON.stringify(value),
      () => `version ${version} stood for ${known}, now for ${JSON.stringify(value)}`,
    );
    this.#values.set(version, known);
  }

  /** Compare and set, with the version that is there; then the old version must be refused. */
  async #swap(id: string): Promise<void> {
    const before = await this.#read(id);
    if (before === 'damaged') return this.#write(id, this.#newValue(), 'durable');
    await this.#write(id, this.#newValue(), 'durable', before?.version ?? null);
    if (!before) return;
    const again = this.#storage.documents.write(nameOf(id), { n: -1 }, { ifVersion: before.version });
    const refused = await again.then(
      () => false,
      (thrown: unknown) => isRekindleError(thrown, 'DOCUMENT_CONFLICT'),
    );
    demand(refused, () => `a write with the old version of ${id} was not refused`);
  }

  async #delete(id: string): Promise<void> {
    const ack = this.#process.history.begin({ kind: 'delete', id, value: null });
    await this.#storage.documents.delete(nameOf(id));
    ack();
  }

  async #setAside(id: string): Promise<void> {
    const before = await this.#read(id);
    if (!before || before === 'damaged') return;
    const ack = this.#process.history.begin({ kind: 'aside', id, value: before.value });
    const name = await this.#storage.documents.setAside(nameOf(id), 'old');
    ack({ name });
  }

  async #read(id: string): Promise<{ value: JsonValue; version: string } | 'damaged' | null> {
    try {
      return await this.#storage.documents.read(nameOf(id));
    } catch (thrown) {
      if (isRekindleError(thrown, 'DOCUMENT_DAMAGED')) return 'damaged'; // a torn cache
      throw thrown;
    }
  }
}

interface Expected {
  /** As JSON text; `null` also for absent. */
  values: Set<string>;
  mayBeDamaged: boolean;
}

/** Folds the actions: an acknowledged one settles what is there, an open one adds a possibility. */
function expectedOf(id: string, facts: readonly Fact[]): Expected {
  const expected: Expected = { values: new Set(['null']), mayBeDamaged: false };
  for (const { fact, acked } of facts) {
    if (fact['id'] !== id) continue;
    const cached = fact['kind'] === 'cache';
    if (acked !== null && !cached) {
      expected.values.clear();
      expected.mayBeDamaged = false;
    }
    expected.values.add(JSON.stringify(fact['kind'] === 'aside' ? null : fact['value']!));
    expected.mayBeDamaged ||= cached;
  }
  return expected;
}

async function checkDocument(
  storage: ReturnType<typeof openStorage>,
  id: string,
  facts: readonly Fact[],
): Promise<void> {
  const { values, mayBeDamaged } = expectedOf(id, facts);
  let found: string;
  try {
    found = JSON.stringify((await storage.documents.read(nameOf(id)))?.value ?? null);
  } catch (thrown) {
    if (isRekindleError(thrown, 'DOCUMENT_DAMAGED') && mayBeDamaged) return;
    throw thrown;
  }
  demand(
    values.has(found),
    () => `${id} is ${found.slice(0, 60)}; expected ${[...values].join(' or ').slice(0, 200)}`,
  );
}

/** What was set aside, durably, is still there under the name that was returned. */
async function checkSetAside(storage: ReturnType<typeof openStorage>, facts: readonly Fact[]): Promise<void> {
  for (const [index, { fact, acked }] of facts.entries()) {
    if (fact['kind'] !== 'aside' || acked === null) continue;
    const id = fact['id'] as string;
    const before = expectedOf(id, facts.slice(0, index));
    if (before.mayBeDamaged || before.values.size > 1) continue; // it was not durable before
    const kept = await storage.documents.read(nameOf(acked['name'] as string));
    demand(
      JSON.stringify(kept?.value) === JSON.stringify(fact['value']),
      () => `what was set aside from ${id} is lost`,
    );
  }
}

async function checkDocuments(process: RebootedProcess): Promise<void> {
  const before = process.disk.contents();
  const storage = openStorage(process);
  for (const id of DOCUMENTS) await checkDocument(storage, id, process.facts);
  await checkSetAside(storage, process.facts);
  await storage.documents.write(nameOf('a'), { after: true });
  await storage.close();
  before.delete(`${STORE}/docs/a`); // it was replaced on purpose
  assertNothingDestroyed(before, process.disk.contents());
  const again = openStorage(process.next());
  const found = await again.documents.read(nameOf('a'));
  demand(JSON.stringify(found?.value) === '{"after":true}', () => 'a write after recovery did not last');
  if (process.thorough) await checkDocument(again, 'b', process.facts);
  await again.close();
}

async function prepare(disk: SimulatedDisk): Promise<readonly Fact[]> {
  await disk.makeFolder(STORE);
  await disk.makeFolder(`${STORE}/docs`);
  const file = await disk.open(FOREIGN, 'create');
  await file.write(Buffer.from('written by a person\n'), 0);
  await file.close();
  return [];
}

export const documents: Workload = {
  name: 'documents',
  alphabet: ['write a', 'write b', 'long a', 'swap a', 'delete a', 'aside a', 'cache a', 'number a'],
  prepare,
  start: async (process) => new DocumentSession(process),
  check: checkDocuments,
};
