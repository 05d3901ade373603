/** Copies and removals that are interrupted at every call and after every record, and the bytes that are left. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RekindleSaver } from '../../../src/adapters/langgraph/index.js';
import { RekindleError } from '../../../src/core/errors.js';
import { copyStorage } from '../../../src/storage/copy-storage.js';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import type { StorageBackend } from '../../../src/storage/ports.js';
import { SqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.js';
import { countCalls, loseAnswerAt } from '../../../src/storage/testing/fault-plans.js';
import { faultyStorage } from '../../../src/storage/testing/faulty-storage.js';
import type { FaultPlan, StorageOperation } from '../../../src/storage/testing/storage-fault.js';
import { inFiles, inStore } from '../../agent/erasure/canaries.js';
import { all, checkpointOf, folderOf, metadataOf, thread } from './saver-kit.js';

const LARGE = 'large '.repeat(12_000);
/** In a value, a blob, a pending write and metadata of the first run only. */
const GONE = ['gone-value', 'gone-blob', 'gone-write', 'gone-metadata'];
const KEPT = ['kept-base', 'kept-last'];

/** Two threads with a run each that goes, and one that stays and needs values of it. */
async function converse(storage: StorageBackend): Promise<void> {
  const saver = new RekindleSaver({ storage });
  for (const id of ['s', 'a/b']) {
    let config = thread(id);
    let messages: string[] = [];
    const put = async (text: string, more: Record<string, unknown>, run: string) => {
      messages = [...messages, text];
      const values = { messages, ...more };
      const versions = Object.fromEntries(Object.keys(values).map((name) => [name, messages.length]));
      const metadata = metadataOf(messages.length, {
        run_id: run,
        ...(run === 'run-1' ? { note: GONE[3] } : {}),
      });
      config = await saver.put(config, checkpointOf(values, versions), metadata, versions);
    };
    await put(`kept-base ${'base '.repeat(200)}`, { own: GONE[0] }, 'run-1');
    await saver.putWrites(config, [['messages', GONE[2]]], 'task');
    await put('second', { own: `${GONE[1]}${LARGE}` }, 'run-1');
    await put(LARGE, { own: 1 }, 'run-2');
    await put('kept-last', { own: 2 }, 'run-2');
    await saver.putWrites(config, [['messages', LARGE.repeat(2)]], 'task');
  }
  await saver.close();
}

interface Work {
  readonly name: string;
  readonly gone: readonly string[];
  run(saver: RekindleSaver): Promise<void>;
}

const WORKS: readonly Work[] = [
  { name: 'copyThread', gone: [], run: (saver) => saver.copyThread('s', 'copy') },
  { name: 'deleteForRuns', gone: GONE, run: (saver) => saver.deleteForRuns(['run-1']) },
  { name: 'prune', gone: GONE, run: (saver) => saver.prune(['s', 'a/b']) },
];

/** What every thread has. */
async function contentsOf(storage: StorageBackend): Promise<Record<string, unknown>> {
  const saver = new RekindleSaver({ storage });
  const contents: Record<string, unknown> = {};
  for (const id of ['s', 'a/b', 'copy']) contents[id] = await all(saver.list(thread(id)));
  await saver.close();
  return contents;
}

/** True if it was interrupted. */
async function interrupted(storage: StorageBackend, plan: FaultPlan, { run }: Work): Promise<boolean> {
  const saver = new RekindleSaver({ storage: faultyStorage(storage, plan) });
  const failed = await run(saver).then(
    () => false,
    () => true,
  );
  await saver.close().catch(() => {});
  return failed;
}

/** Fails from one call on, as for a process that is gone. */
function goneAt(at: number): FaultPlan {
  const error = new RekindleError('STORAGE_UNAVAILABLE', 'The process is gone.');
  return ({ number, operation }) =>
    number < at || operation === 'lease.release' ? null : { kind: 'fail', error };
}

function goneFrom(first: StorageOperation): FaultPlan {
  const error = new RekindleError('STORAGE_UNAVAILABLE', 'The process is gone.');
  let isGone = false;
  return ({ operation }) => {
    isGone ||= operation === first;
    return isGone && operation !== 'lease.release' ? { kind: 'fail', error } : null;
  };
}

/** Runs the work to its end. */
async function finish(storage: StorageBackend, { run }: Work): Promise<void> {
  const saver = new RekindleSaver({ storage });
  await run(saver);
  await saver.close();
}

async function copyOf(from: StorageBackend): Promise<MemoryStorage> {
  const storage = new MemoryStorage();
  await copyStorage(from, storage);
  return storage;
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rekindle-kept-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe.each(WORKS)('$name that is interrupted', { timeout: 300_000 }, (work) => {
  it.each([
    ['the end of the process', goneAt],
    ['a lost answer', loseAnswerAt],
  ])(
    'by %s at any call leaves each thread as it was or as it is to be, and can be repeated',
    async (_, planAt) => {
      const original = new MemoryStorage();
      await converse(original);
      const before = await contentsOf(original);
      const whole = await copyOf(original);
      const counter = countCalls();
      await interrupted(whole, counter.plan, work);
      const expected = await contentsOf(whole);
      let interruptions = 0;
      for (let at = 1; at <= counter.calls.length; at += 1) {
        const storage = await copyOf(original);
        if (await interrupted(storage, planAt(at), work)) interruptions += 1;
        for (const [id, content] of Object.entries(await contentsOf(storage)))
          expect([before[id], expected[id]], `call ${at}, thread ${id}`).toContainEqual(content);
        await finish(storage, work);
        expect(await contentsOf(storage), `call ${at}`).toEqual(expected);
        expect(await inStore(storage, work.gone), `call ${at}`).toEqual([]);
        await storage.close();
      }
      expect(interruptions).toBeGreaterThan(15);
    },
  );

  // `prune` stores what stays in the same way as `deleteForRuns`.
  it.skipIf(work.name === 'prune')(
    'after any record leaves the old thread or the new one, and can be repeated',
    async () => {
      const folder = await newFolder();
      const id = work.name === 'copyThread' ? 'copy' : 's';
      const storage = new FileStorage(folder, { durability: 'relaxed' });
      await converse(storage);
      const before = await contentsOf(storage);
      await interrupted(storage, goneFrom('blob.list'), work); // everything is written, and nothing is erased
      const after = await contentsOf(storage);
      expect(after[id]).not.toEqual(before[id]);
      await storage.close();
      const live = path.join(...folderOf(id), 'checkpoints.jsonl');
      const bytes = await readFile(path.join(folder, live));
      const ends = [...bytes.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at + 1] : []));
      const [header, ...others] = ends; // a segment begins with its whole header
      const cuts = [
        header!,
        ...others.map((end, n) => (n % 2 === 0 ? end - 9 : end)),
        bytes.length,
      ].toReversed();
      let expected: unknown = null;
      for (const end of cuts) {
        const root = await newFolder();
        await cp(folder, root, { recursive: true });
        await writeFile(path.join(root, live), bytes.subarray(0, end));
        const cut = new FileStorage(root, { durability: 'relaxed' });
        const wanted = end === bytes.length ? after : before;
        expect((await contentsOf(cut))[id], `cut at ${end} of ${bytes.length}`).toEqual(wanted[id]);
        await finish(cut, work);
        expected ??= await contentsOf(cut);
        expect(await contentsOf(cut), `cut at ${end}`).toEqual(expected);
        await cut.close();
        expect(await inFiles(path.join(root, 'langgraph'), work.gone)).toEqual([]);
      }
    },
  );
});

describe.each([
  ['files', (folder: string) => new FileStorage(folder)],
  ['SQLite', (folder: string) => new SqliteStorage(path.join(folder, 'store.db'))],
])('a run that is deleted from %s', (_, open) => {
  it('is in no byte, and the other runs are', async () => {
    const folder = await newFolder();
    const storage = open(folder);
    await converse(storage);
    if (storage instanceof FileStorage) {
      const torn = path.join(folder, ...folderOf('s'), 'checkpoints.torn-12-00ff00ff');
      await writeFile(torn, GONE.join(' ')); // as a crash leaves it
    }
    await finish(storage, WORKS[1]!);
    expect(await inFiles(folder, GONE)).toEqual([]);
    expect(await inFiles(folder, KEPT)).toEqual(KEPT);
    await storage.close();
    expect(await inFiles(folder, GONE)).toEqual([]);
  });
});
