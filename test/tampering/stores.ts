/** The sessions that are tampered with: made once on a real disk, kept in memory, together with every state that they had. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import { SessionKeys } from '../../src/checkpoints/encryption/session-keys.js';
import { journalNames, type SessionHead, SessionLog } from '../../src/checkpoints/session/session-log.js';
import { ManualClock } from '../../src/core/clock.js';
import type { JsonObject } from '../../src/core/json.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { EnvironmentKeys } from '../../src/storage/sealing/environment-keys.js';

/** Paths below the session's folder, the oldest file first. */
export type SessionFiles = ReadonlyMap<string, Buffer>;

export interface Expected {
  /** JSON text. */
  readonly context: string;
  readonly metadata: string;
}

export interface StoredSession {
  readonly id: string;
  /** From its first record on. */
  readonly sealed: boolean;
  readonly files: SessionFiles;
  /** After each step, the oldest first. */
  readonly history: readonly SessionFiles[];
  /** By id; only those that are there at the end. */
  readonly checkpoints: ReadonlyMap<string, Expected>;
  readonly list: string;
  readonly info: string;
  readonly head: SessionHead;
  /** For some that are encrypted: a plain session of the same id, in which other contents were saved. */
  readonly impostor: SessionFiles | null;
}

export const MASTER_KEYS = new EnvironmentKeys({ REKINDLE_MASTER_KEY: '5a'.repeat(32) });

/** What is no promise: leases, and when a session was used. */
const IGNORED = /lease|access\.json|\.tmp-/;

type Kind = 'plain' | 'sealed' | 'sealed later';

interface Recipe {
  readonly id: string;
  readonly kind: Kind;
  readonly messagesPerKey?: number;
  /** Small ones give a journal of several files. */
  readonly segmentBytesMax?: number;
  readonly compressed?: true;
  /** Before the last step the journal begins anew. */
  readonly anew?: true;
  readonly impostor?: true;
}

const RECIPES: readonly Recipe[] = [
  { id: 'plain', kind: 'plain', compressed: true },
  { id: 'plain-twin', kind: 'plain' },
  { id: 'sealed', kind: 'sealed', compressed: true, impostor: true },
  { id: 'sealed-twin', kind: 'sealed' },
  { id: 'two-keys', kind: 'sealed', messagesPerKey: 4 },
  { id: 'segments', kind: 'sealed', segmentBytesMax: 1_500 },
  { id: 'plain-segments', kind: 'plain', segmentBytesMax: 500 },
  { id: 'sealed-later', kind: 'sealed later', impostor: true },
  { id: 'anew', kind: 'sealed', anew: true },
  { id: 'anew-segments', kind: 'sealed', segmentBytesMax: 1_500, anew: true },
  { id: 'plain-anew', kind: 'plain', anew: true },
];

export async function makeStores(): Promise<StoredSession[]> {
  const root = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-tampering-'));
  try {
    const sessions: StoredSession[] = [];
    for (const recipe of RECIPES) {
      const { id } = recipe;
      const other = path.join(root, 'impostors');
      const impostor = recipe.impostor ? await makeSession(other, { id, kind: 'plain' }, 'other') : null;
      sessions.push({ ...(await makeSession(root, recipe)), impostor: impostor?.files ?? null });
    }
    return sessions;
  } finally {
    await fs.rm(root, { recursive: true, force: true });
  }
}

async function makeSession(root: string, recipe: Recipe, goal = recipe.id): Promise<StoredSession> {
  const { id, kind, messagesPerKey, segmentBytesMax, compressed = false, anew = false } = recipe;
  const backend = new FileStorage(root, segmentBytesMax === undefined ? {} : { segmentBytesMax });
  const clock = new ManualClock();
  const open = (enabled: boolean) =>
    new CheckpointService({
      backend,
      clock,
      masterKeys: MASTER_KEYS,
      config: { encryption: { enabled }, compression: { enabled: compressed } },
      ...(messagesPerKey === undefined ? {} : { messagesPerKey }),
    });
  const history: SessionFiles[] = [];
  let service = open(kind === 'sealed');
  for (const [index, step] of STEPS.entries()) {
    if (index === 3 && kind === 'sealed later') {
      await service.close();
      service = open(true);
    }
    clock.advance(60_000);
    if (index === STEPS.length - 1 && anew) {
      await service.close();
      await beginAnew(backend, id, clock);
      service = open(kind === 'sealed');
    }
    await step(service, id, goal);
    history.push(await filesOf(path.join(root, 'checkpoints', 'sessions', id), history.at(-1)));
  }
  const { checkpoints: listed } = await service.list({ sessionId: id });
  const checkpoints = new Map<string, Expected>();
  for (const { id: checkpointId } of listed) {
    const { context, metadata } = await service.load({ checkpointId });
    checkpoints.set(checkpointId, { context: JSON.stringify(context), metadata: JSON.stringify(metadata) });
  }
  const info = JSON.stringify(withoutAccess(await service.session(id)));
  const head = (await service.verify({ sessionId: id })).heads[0]!;
  await service.close();
  await backend.close();
  const list = JSON.stringify(listed);
  const about = { id, sealed: kind === 'sealed', checkpoints, list, info, head };
  return { ...about, files: history.at(-1)!, history, impostor: null };
}

/** What a service does after a thousand removals. */
async function beginAnew(backend: FileStorage, session: string, clock: ManualClock): Promise<void> {
  const folder = ['checkpoints', 'sessions', session];
  const keys = new SessionKeys(backend.documents, folder, session, MASTER_KEYS);
  const nowMs = () => clock.nowMs();
  const log = new SessionLog(backend, { folder, session, keys, waitMs: 1_000, nowMs });
  await log.refresh();
  await log.authenticate();
  const { digest, seq } = (await log.headOf())!;
  const base = log.state.baseRecord(new Date(nowMs()).toISOString(), digest) as unknown as JsonObject;
  const { isEncrypted } = log;
  await log.close();
  const key = isEncrypted ? await keys.newest() : null;
  const about = key ? { ...base, key: key.id } : base;
  const record = key ? { ...about, mac: key.macOf(session, seq + 1, about) } : about;
  const names = journalNames(folder);
  const lease = await backend.leases.acquire(names.lease);
  const journal = await backend.openJournal<JsonObject>(names.journal, { lease });
  await journal.append([record]);
  await journal.removeBefore(seq + 1);
  await journal.close();
  await lease.release();
}

export function withoutAccess(info: object): object {
  return { ...info, lastAccessedAt: null };
}

type Step = (service: CheckpointService, sessionId: string, goal: string) => Promise<unknown>;

const save =
  (n: number, metadata: { name?: string; tags?: string[] } = {}, critical = false): Step =>
  (service, sessionId, goal) =>
    service.save({ sessionId, context: contextOf(goal, n), metadata, agentId: 'agent', critical });

/** The number of the checkpoint that is removed: that of its record. */
export const REMOVED = 4;

/** Parts shared with earlier ones, marks, removals: what a record can say is said. */
const STEPS: readonly Step[] = [
  save(1, { name: 'first', tags: ['begin'] }),
  save(2),
  (service, sessionId) => service.markCritical({ checkpointId: `${sessionId}@2` }),
  save(3, { name: 'third', tags: ['a', 'b'] }),
  (service, sessionId) => service.markCritical({ sessionId, contextKey: 'notes' }),
  save(4),
  (service, sessionId) => service.delete(`${sessionId}@${REMOVED}`),
  save(5, { tags: ['kept'] }, true),
];

/** Some KB, from the second on most of them as in the one before; in another session another one. */
function contextOf(goal: string, n: number): JsonObject {
  if (n === 1) return { step: 1, goal: `to begin with ${goal}` };
  const notes = Array.from(
    { length: 120 },
    (_, index) => `note ${index} of ${Math.imul(index + 7, 2_654_435_761) ^ (index << 9)} `,
  );
  for (let at = 1; at <= n; at += 1) notes[at * 17] = `changed by ${at} ${'x'.repeat(at)}`;
  return {
    step: n,
    notes,
    goal: `to be what it was in ${goal}`,
    more: Array.from({ length: n }, (_, at) => at * n),
  };
}

/** Files that were there before keep their order. */
async function filesOf(folder: string, before: SessionFiles = new Map()): Promise<SessionFiles> {
  const found = new Map<string, Buffer>();
  for (const entry of await fs.readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(folder, file);
    if (entry.isFile() && !IGNORED.test(name)) found.set(name, await fs.readFile(file));
  }
  const known = [...before.keys()].filter((name) => found.has(name));
  const fresh = [...found.keys()].filter((name) => !before.has(name)).sort();
  return new Map([...known, ...fresh].map((name) => [name, found.get(name)!]));
}
