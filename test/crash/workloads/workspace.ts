/**
 * A workspace that is written, deleted from and closed. After a crash each entry is what was acknowledged last, or what was under way;
 * its versions have no gap, the manifest tells the same with and without its file, and versions go on.
 */
import type { JsonValue } from '../../../src/core/json.js';
import { Workspace } from '../../../src/workspace/workspace.js';
import type { Fact } from '../history.js';
import {
  demand,
  openStorage,
  type Process,
  type RebootedProcess,
  type RunningProcess,
  type Session,
  type Workload,
  withStorage,
} from '../workload.js';

const KEYS = ['a', 'b'];

function withWorkspace<T>(process: Process, run: (workspace: Workspace) => Promise<T>): Promise<T> {
  return withStorage(process, (storage) => new Workspace(storage, { clock: process.clock }), run);
}

class WorkspaceSession implements Session {
  readonly #process: RunningProcess;
  #count = 0;

  constructor(process: RunningProcess) {
    this.#process = process;
  }

  async apply(operation: string): Promise<void> {
    const [kind, key = 'a'] = operation.split(' ');
    await withWorkspace(this.#process, async (workspace) => {
      if (kind === 'delete') await this.#delete(workspace, key);
      else if (kind === 'burst') await Promise.all(KEYS.map((one) => this.#write(workspace, one, 'n')));
      else await this.#write(workspace, key, kind === 'large' ? 'y'.repeat(20_000) : 'n');
    });
  }

  async #write(workspace: Workspace, key: string, filler: string): Promise<void> {
    const value = { n: 100 * this.#process.identity.owner().pid + ++this.#count, filler };
    const ack = this.#process.history.begin({ key, value });
    const { version } = await workspace.write(key, value);
    ack({ version });
  }

  async #delete(workspace: Workspace, key: string): Promise<void> {
    if (!(await workspace.read(key))) return; // nothing to take away, nothing to acknowledge
    const ack = this.#process.history.begin({ key, value: null });
    await workspace.delete(key);
    ack({ version: 0 });
  }

  async dispose(): Promise<void> {}
}

/** What an entry may be, as JSON text; and the highest version that was acknowledged. */
function expectedOf(
  key: string,
  facts: readonly Fact[],
): { readonly values: Set<string>; readonly version: number } {
  let values = new Set(['null']);
  let version = 0;
  for (const { fact, acked } of facts) {
    if (fact['key'] !== key) continue;
    if (acked !== null) values = new Set();
    values.add(JSON.stringify(fact['value'] as JsonValue));
    version = Math.max(version, Number(acked?.['version'] ?? 0));
  }
  return { values, version };
}

async function checkWorkspace(process: RebootedProcess): Promise<void> {
  const versions = await withWorkspace(process, async (workspace) => {
    for (const key of KEYS) await checkEntry(workspace, key, process.facts);
    return (await workspace.write('a', { after: true })).version;
  });
  const next = process.next();
  const storage = openStorage(next);
  if (process.thorough) await storage.documents.delete(['workspace', '_manifest.json']);
  await storage.close();
  await withWorkspace(next, async (workspace) => {
    const entry = await workspace.read('a');
    demand(
      entry?.version === versions,
      () => `version ${entry?.version} after a write that gave ${versions}`,
    );
    demand(JSON.stringify(entry?.value) === '{"after":true}', () => 'a write after recovery did not last');
    if (process.thorough) await checkEntry(workspace, 'b', process.facts);
  });
}

async function checkEntry(workspace: Workspace, key: string, facts: readonly Fact[]): Promise<void> {
  const { values, version } = expectedOf(key, facts);
  const found = JSON.stringify((await workspace.read(key))?.value ?? null);
  demand(
    values.has(found),
    () => `${key} is ${found.slice(0, 60)}; expected ${[...values].join(' or ').slice(0, 200)}`,
  );
  const history = await workspace.history(key, 1_000);
  demand(
    (history[0]?.version ?? 0) >= version,
    () => `${key} is at ${history[0]?.version}, but ${version} was acknowledged`,
  );
  for (const [index, entry] of history.entries())
    demand(entry.version === history.length - index, () => `${key} has a gap at version ${entry.version}`);
}

export const workspace: Workload = {
  name: 'workspace',
  alphabet: ['write a', 'write b', 'large a', 'delete a', 'burst'],
  start: async (process) => new WorkspaceSession(process),
  check: checkWorkspace,
};
