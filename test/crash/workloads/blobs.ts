/** Bytes under their digest: whole or absent, durable once `put` resolved. */
import { createHash } from 'node:crypto';
import type { Fact } from '../history.js';
import {
  demand,
  openStorage,
  type RebootedProcess,
  type RunningProcess,
  type Session,
  type Workload,
} from '../workload.js';

const SCOPE = ['agent', 'artifacts'];

const CONTENT: Readonly<Record<string, Uint8Array>> = {
  small: Buffer.from('small bytes'),
  large: Buffer.alloc(1_300, 'large bytes '),
  empty: new Uint8Array(0),
};

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

class BlobSession implements Session {
  readonly #process: RunningProcess;
  readonly #storage: ReturnType<typeof openStorage>;

  constructor(process: RunningProcess) {
    this.#process = process;
    this.#storage = openStorage(process);
  }

  async apply(operation: string): Promise<void> {
    const [kind, id] = operation.split(' ') as [string, string];
    const bytes = CONTENT[id]!;
    const blobs = this.#storage.blobs(SCOPE);
    const ack = this.#process.history.begin({ kind, id });
    if (kind === 'put')
      demand((await blobs.put(bytes)).digest === digestOf(bytes), () => 'put answered a wrong digest');
    else await blobs.delete(digestOf(bytes));
    ack();
    demand(
      (await blobs.has(digestOf(bytes))) === (kind === 'put'),
      () => `after ${operation} has says otherwise`,
    );
  }

  dispose(): Promise<void> {
    return this.#storage.close();
  }
}

/** The last acknowledged put stands, unless a delete was begun after it; a deleted blob may come back. */
function mustBeThere(id: string, facts: readonly Fact[]): boolean {
  let must = false;
  for (const { fact, acked } of facts) {
    if (fact['id'] !== id) continue;
    if (fact['kind'] === 'delete') must = false;
    else must ||= acked !== null;
  }
  return must;
}

async function checkBlobs(process: RebootedProcess): Promise<void> {
  const storage = openStorage(process);
  const blobs = storage.blobs(SCOPE);
  const listed = new Set<string>();
  for await (const { digest } of blobs.list()) listed.add(digest);
  for (const [id, bytes] of Object.entries(CONTENT)) {
    const found = await blobs.get(digestOf(bytes));
    demand(found === null || Buffer.compare(found, bytes) === 0, () => `${id} came back changed`);
    demand(found !== null || !mustBeThere(id, process.facts), () => `${id} was stored, and is lost`);
    demand(listed.has(digestOf(bytes)) === (found !== null), () => `${id}: list and get do not agree`);
    await blobs.put(bytes);
  }
  await storage.close();
  const again = openStorage(process.next());
  for (const [id, bytes] of Object.entries(CONTENT)) {
    const found = await again.blobs(SCOPE).get(digestOf(bytes));
    demand(
      found !== null && Buffer.compare(found, bytes) === 0,
      () => `${id}, stored after recovery, is lost`,
    );
  }
  await again.close();
}

export const blobs: Workload = {
  name: 'blobs',
  alphabet: ['put small', 'put large', 'put empty', 'delete small'],
  start: async (process) => new BlobSession(process),
  check: checkBlobs,
};
