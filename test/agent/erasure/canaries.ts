/** Two agents in one store, with a canary in every kind of data; and a look at the bytes for them. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { checkpointAgent } from '../../../src/agent/checkpoints/checkpoint-agent.js';
import { openWorkingContext } from '../../../src/agent/context/open-working-context.js';
import { CheckpointService } from '../../../src/checkpoints/checkpoint-service.js';
import { openMemory } from '../../../src/memory/open-memory.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { SessionManager } from '../../../src/workspace/sessions/session-manager.js';
import { ToolCallLog } from '../../../src/workspace/tool-calls/tool-call-log.js';
import { Workspace } from '../../../src/workspace/workspace.js';

export const AGENTS = ['desk', 'till'] as const;
/** The subject whose facts both share. */
const SCOPE = 'house';

/** Seeded: one seed, the same texts. */
export class Canaries {
  readonly all = new Map<string, string[]>();
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  make(owner: string): string {
    let text = 'canary-';
    for (let index = 0; index < 20; index += 1) {
      this.#state = (Math.imul(this.#state, 1_103_515_245) + 12_345) >>> 0;
      text += 'abcdefghijklmnopqrstuvwxyz'[(this.#state >>> 16) % 26];
    }
    this.all.set(owner, [...(this.all.get(owner) ?? []), text]);
    return text;
  }
}

export async function plant(storage: StorageBackend, canaries: Canaries): Promise<void> {
  const checkpoints = new CheckpointService({
    backend: storage,
    config: { compression: { enabled: false } },
  });
  const calls = new ToolCallLog(storage);
  const sessions = new SessionManager(storage);
  const session = await sessions.create({ title: 'one' });
  for (const agent of AGENTS) {
    const text = () => canaries.make(agent);
    await plantMemory(storage, agent, text);
    await checkpointAgent(checkpoints, storage, agent);
    await checkpoints.save({ sessionId: `own-${agent}`, agentId: agent, context: { said: text() } });
    await checkpoints.save({ sessionId: 'of-both', agentId: agent, context: { said: text() }, force: true });
    await calls.record(callOf(agent, 1, text()));
    await calls.record(callOf(agent, 2, text().repeat(300)));
    await sessions.saveAgentState(session.id, { name: agent, agentId: agent, state: { note: text() } });
    const workspace = new Workspace(storage, { scope: { agent } });
    await workspace.write('plan', text());
    await workspace.close();
  }
  for (const agent of AGENTS) {
    // Its context is not opened again: a fact of the other one would come into it, and stay.
    const opened = await openMemory(storage, agent, { compaction: null, scope: SCOPE });
    await opened.memory.facts.remember(canaries.make(agent));
    await opened.close();
  }
  await calls.close();
  await sessions.close();
  await checkpoints.close();
}

async function plantMemory(storage: StorageBackend, agentId: string, text: () => string): Promise<void> {
  const context = await openWorkingContext({ agentId, storage, system: text() });
  await context.beginTurn(text());
  await context.endTurn([{ role: 'assistant', content: text() }]);
  await context.close();
  const lease = await storage.leases.acquire(['agents', agentId]);
  for (const name of ['episodic', 'semantic', 'pending_calls', 'answer_parts', 'inputs', 'old']) {
    const journal = await storage.openJournal(['agents', agentId, name], { lease });
    await journal.append([{ canary: text() }]);
    await journal.append([{ canary: text() }]);
    if (name === 'old') await journal.archiveBefore(2);
    await journal.close();
  }
  const { documents } = storage;
  const folder = ['agents', agentId];
  await documents.write([...folder, 'state', 'agent_state.json'], { note: text() });
  await documents.write([...folder, 'state', 'backups', 'agent_state.1'], { note: text() });
  await documents.write([...folder, 'aside.json'], { note: text() });
  await documents.setAside([...folder, 'aside.json'], 'damaged');
  await documents.writeBytes([...folder, 'recall', '1-90.idx'], Buffer.from(text()));
  await storage.blobs([...folder, 'artifacts']).put(Buffer.from(text()));
  await lease.release();
}

function callOf(agent: string, number: number, output: string) {
  const startedMs = Date.UTC(2026, 2, 1) + number;
  const call = { callId: `c${number}-${agent}`, tool: 'search', agent, input: {}, output };
  return { ...call, error: null, startedMs, durationMs: 1 };
}

/** What cannot be planted through the library: what crashes and repairs leave beside the files. */
export async function plantAsides(root: string, canaries: Canaries): Promise<void> {
  for (const agent of AGENTS) {
    const folder = path.join(root, 'agents', agent);
    for (const name of [
      'raw_traces.torn-12-00ff00ff',
      'raw_traces.jsonl.damaged-00ff00ff',
      '.tmp-1-x',
      'Odd',
    ])
      await fs.writeFile(path.join(folder, name), canaries.make(agent));
  }
  const torn = path.join(root, 'subjects', SCOPE, 'facts.torn-12-00ff00ff');
  await fs.writeFile(torn, canaries.make('desk'));
}

/** Nothing of the agent `desk` is found, and all of the other one. */
export async function expectErased(
  look: (texts: readonly string[]) => Promise<string[]>,
  canaries: Canaries,
): Promise<void> {
  const [own, others] = [canaries.all.get('desk')!, canaries.all.get('till')!];
  expect(await look(own)).toEqual([]);
  expect(await look(others)).toEqual(others);
}

/** Of these texts, those that a file below the folder holds. */
export async function inFiles(folder: string, texts: readonly string[]): Promise<string[]> {
  const files = await fs.readdir(folder, { recursive: true, withFileTypes: true });
  const found = new Set<string>();
  for (const entry of files.filter((one) => one.isFile())) {
    const bytes = await fs.readFile(path.join(entry.parentPath, entry.name));
    for (const text of texts) if (bytes.includes(text)) found.add(text);
  }
  return texts.filter((text) => found.has(text));
}

/** The same in all that the ports hand out. */
export async function inStore(storage: StorageBackend, texts: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  const look = (bytes: Uint8Array | null) => {
    for (const text of texts) if (bytes && Buffer.from(bytes).includes(text)) found.add(text);
  };
  for await (const { kind, name } of storage.contents([])) {
    if (kind === 'document') look(await storage.documents.readBytes(name));
    else if (kind === 'blobs')
      for await (const { digest } of storage.blobs(name).list()) look(await storage.blobs(name).get(digest));
    else {
      const journal = await storage.openJournal(name, { readOnly: true });
      for await (const entry of journal.read({ archived: true }))
        if (entry.kind === 'record') look(Buffer.from(JSON.stringify(entry.record)));
      await journal.close();
    }
  }
  return texts.filter((text) => found.has(text));
}
