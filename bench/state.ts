/**
 * What durable state and a workspace cost as their history grows: bytes and time of one change, and of reading the current value in a
 * process that has just started, after 10, 1,000 and 100,000 versions. Beside it: writing the whole document with its history anew.
 */
import { agentState } from '../src/state/durable/documents/agent-state.js';
import { StateManager } from '../src/state/durable/state-manager.js';
import { FileStorage } from '../src/storage/file/file-storage.js';
import { Workspace } from '../src/workspace/workspace.js';
import { CountingFileSystem, inTempFolder, median, ms, printTable, ratio, textOfSize } from './support.js';

const VERSIONS = [10, 1_000, 100_000];
const CHANGES = 60;
const READS = 15;
/** A state as it is in the middle of work: about 4 KB. */
const FILLER = Array.from({ length: 20 }, (_, n) => textOfSize(180, n));
/** An entry of about 1 KB, which is what each write is new. */
const entryOf = (n: number) => ({ n, text: textOfSize(1_000, n) });

interface Row {
  readonly versions: number;
  readonly changeMs: number;
  readonly changeBytes: number;
  readonly newBytes: number;
  readonly journalBytes: number;
  readonly syncs: number;
  readonly readMs: number;
}

/** History is made without syncs: it is its length that matters here. */
async function ofState(folder: string, versions: number): Promise<Row> {
  await grow(folder, async (storage) => {
    const state = await StateManager.open({ ...agentState, backend: storage });
    await state.update((draft) => void draft.assumptions.push(...FILLER));
    for (let n = 2; n < versions; n += 1)
      await state.update((draft) => void (draft.active_task_id = taskId(n)));
    await state.close();
  });
  const counted = await measured(folder, async (storage, times, fileSystem) => {
    const state = await StateManager.open({ ...agentState, backend: storage });
    await state.update((draft) => void (draft.next_action = 'go'));
    fileSystem.reset();
    for (let n = 0; n < CHANGES; n += 1) {
      const start = performance.now();
      await state.update((draft) => void (draft.active_task_id = taskId(versions + n + 1)));
      times.push(performance.now() - start);
    }
    const bytes = [fileSystem.bytesOf(/./), fileSystem.bytesOf(/events\.jsonl$/)] as const;
    await state.close();
    return bytes;
  });
  const readMs = await readTime(async () => {
    const state = await StateManager.open({ ...agentState, backend: new FileStorage(folder) });
    const { value } = await state.load();
    if (value.assumptions.length !== FILLER.length) throw new RangeError('another state');
    await state.close();
  });
  return { versions, ...counted, newBytes: taskId(versions).length, readMs };
}

async function ofWorkspace(folder: string, versions: number): Promise<Row> {
  await grow(folder, async (storage) => {
    const workspace = new Workspace(storage);
    for (let n = 0; n < versions; n += 1) await workspace.write(`key_${n % 10}`, entryOf(n % 50));
    await workspace.close();
  });
  const counted = await measured(folder, async (storage, times, fileSystem) => {
    const workspace = new Workspace(storage);
    await workspace.write('key_0', entryOf(0));
    fileSystem.reset();
    for (let n = 0; n < CHANGES; n += 1) {
      const start = performance.now();
      await workspace.write(`key_${n % 10}`, entryOf(n));
      times.push(performance.now() - start);
    }
    const bytes = [fileSystem.bytesOf(/./), fileSystem.bytesOf(/entries\.jsonl$/)] as const;
    await workspace.close();
    return bytes;
  });
  const readMs = await readTime(async () => {
    const workspace = new Workspace(new FileStorage(folder));
    if (!(await workspace.read('key_3'))) throw new RangeError('no entry');
    await workspace.close();
  });
  return { versions, ...counted, newBytes: JSON.stringify(entryOf(1)).length, readMs };
}

async function grow(folder: string, fill: (storage: FileStorage) => Promise<void>): Promise<void> {
  const storage = new FileStorage(folder, { durability: 'relaxed' });
  await fill(storage);
  await storage.close();
}

async function measured(
  folder: string,
  run: (
    storage: FileStorage,
    times: number[],
    fileSystem: CountingFileSystem,
  ) => Promise<readonly [number, number]>,
): Promise<Pick<Row, 'changeMs' | 'changeBytes' | 'journalBytes' | 'syncs'>> {
  const fileSystem = new CountingFileSystem();
  const storage = new FileStorage(folder, { fileSystem });
  const times: number[] = [];
  const [all, journal] = await run(storage, times, fileSystem);
  const { datasyncs } = fileSystem;
  await storage.close();
  return {
    changeMs: median(times),
    changeBytes: all / CHANGES,
    journalBytes: journal / CHANGES,
    syncs: datasyncs / CHANGES,
  };
}

async function readTime(read: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < READS; n += 1) {
    const start = performance.now();
    await read();
    times.push(performance.now() - start);
  }
  return median(times);
}

function taskId(n: number): string {
  return `T-${String(n).padStart(6, '0')}`;
}

for (const [title, measure] of [
  ['update of a state of 4 KB', ofState],
  ['write of an entry of 1 KB, ten keys', ofWorkspace],
] as const) {
  const rows: Row[] = [];
  for (const versions of VERSIONS) rows.push(await inTempFolder((folder) => measure(folder, versions)));
  const first = rows[0]!;
  printTable(
    title,
    [
      'versions before',
      'ms',
      'bytes',
      'of them journal',
      'what is new',
      'syncs',
      'open and read, ms',
      'against 10',
      'one file with its history, bytes',
    ],
    rows.map((row) => [
      row.versions,
      ms(row.changeMs),
      Math.round(row.changeBytes),
      Math.round(row.journalBytes),
      row.newBytes,
      row.syncs.toFixed(2),
      ms(row.readMs),
      ratio(row.readMs, first.readMs),
      Math.round(row.versions * row.journalBytes),
    ]),
  );
}
