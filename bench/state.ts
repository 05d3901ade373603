/**
 * What durable state and a workspace cost as their history grows: bytes and time of one change, and of reading the current value in a
 * process that has just started, after 10, 1,000 and 100,000 versions. Beside it: a file that holds the history, written at each change.
 */
import { agentState } from '../src/state/durable/documents/agent-state.js';
import { StateManager } from '../src/state/durable/state-manager.js';
import { FileStorage } from '../src/storage/file/file-storage.js';
import { NodeFileSystem } from '../src/storage/file/node-file-system.js';
import type { OpenFile, OpenMode } from '../src/storage/file-system.js';
import { Workspace } from '../src/workspace/workspace.js';
import { CountingFileSystem, inTempFolder, median, ms, printTable, ratio, textOfSize } from './support.js';

const VERSIONS = [10, 1_000, 100_000];
const CHANGES = 60;
const READS = 30;

/** One thing that has a history. */
interface Subject {
  readonly title: string;
  /** What one change is about, in bytes. */
  readonly newBytes: number;
  readonly journal: RegExp;
  grow(storage: FileStorage, versions: number): Promise<void>;
  /** Opens it, warms up, and gives the change to measure and the end. */
  open(storage: FileStorage): Promise<{ change(n: number): Promise<unknown>; close(): Promise<void> }>;
  read(storage: FileStorage): Promise<void>;
}

const taskId = (n: number) => `T-${String(n).padStart(6, '0')}`;
/** A state as it is in the middle of work: about 4 KB. */
const FILLER = Array.from({ length: 20 }, (_, n) => textOfSize(180, n));

const stateSubject: Subject = {
  title: 'update of a state of 4 KB',
  newBytes: taskId(1).length,
  journal: /events\.jsonl$/,
  async grow(storage, versions) {
    const state = await StateManager.open({ ...agentState, backend: storage });
    await state.update((draft) => void draft.assumptions.push(...FILLER));
    for (let n = 2; n < versions; n += 1)
      await state.update((draft) => void (draft.active_task_id = taskId(n)));
    await state.close();
  },
  async open(storage) {
    const state = await StateManager.open({ ...agentState, backend: storage });
    await state.update((draft) => void (draft.next_action = `${draft.next_action}go`));
    return {
      change: (n) => state.update((draft) => void (draft.active_task_id = taskId(500_000 + n))),
      close: () => state.close(),
    };
  },
  async read(storage) {
    const state = await StateManager.open({ ...agentState, backend: storage });
    const { value } = await state.load();
    if (value.assumptions.length !== FILLER.length) throw new RangeError('another state');
    await state.close();
  },
};

/** An entry of about 1 KB, which is what each write is new. */
const entryOf = (n: number) => ({ n, text: textOfSize(1_000, n) });

const workspaceSubject: Subject = {
  title: 'write of an entry of 1 KB, ten keys',
  newBytes: JSON.stringify(entryOf(1)).length,
  journal: /entries\.jsonl$/,
  async grow(storage, versions) {
    const workspace = new Workspace(storage);
    for (let n = 0; n < versions; n += 1) await workspace.write(`key_${n % 10}`, entryOf(n % 50));
    await workspace.close();
  },
  async open(storage) {
    const workspace = new Workspace(storage);
    await workspace.write('key_0', entryOf(0));
    return {
      change: (n) => workspace.write(`key_${n % 10}`, entryOf(n)),
      close: () => workspace.close(),
    };
  },
  async read(storage) {
    const workspace = new Workspace(storage);
    if (!(await workspace.read('key_3'))) throw new RangeError('no entry');
    await workspace.close();
  },
};

/** A disk that does not wait: only to make a long history. */
class WithoutSync extends NodeFileSystem {
  override async open(file: string, mode: OpenMode): Promise<OpenFile> {
    const opened = await super.open(file, mode);
    opened.datasync = async () => {};
    return opened;
  }

  override async syncFolder(): Promise<void> {}
}

interface Grown {
  readonly versions: number;
  readonly folder: string;
  readonly reads: number[];
}

async function measure(subject: Subject, base: string): Promise<void> {
  const all: Grown[] = [];
  for (const versions of VERSIONS) {
    const folder = `${base}/${versions}`;
    const storage = new FileStorage(folder, { fileSystem: new WithoutSync() });
    await subject.grow(storage, versions);
    await storage.close();
    all.push({ versions, folder, reads: [] });
  }
  // By turns, so that what else the machine does meets all of them alike.
  for (let round = -3; round < READS; round += 1)
    for (const { folder, reads } of all) {
      const start = performance.now();
      await subject.read(new FileStorage(folder));
      if (round >= 0) reads.push(performance.now() - start);
    }
  const first = median(all[0]!.reads);
  const rows: (string | number)[][] = [];
  for (const { versions, folder, reads } of all) {
    const changed = await measureChanges(subject, folder);
    const read = median(reads);
    rows.push([
      versions,
      ...changed.cells,
      ms(read),
      ratio(read, first),
      Math.round(versions * changed.journalBytes),
    ]);
  }
  const head = ['versions before', 'change, ms', 'bytes', 'in the journal', 'of them new', 'syncs of files'];
  printTable(
    subject.title,
    [...head, 'open and read, ms', 'against 10', 'one file with its history, bytes'],
    rows,
  );
}

async function measureChanges(subject: Subject, folder: string) {
  const fileSystem = new CountingFileSystem();
  const storage = new FileStorage(folder, { fileSystem });
  const { change, close } = await subject.open(storage);
  fileSystem.reset();
  const times: number[] = [];
  for (let n = 0; n < CHANGES; n += 1) {
    const start = performance.now();
    await change(n);
    times.push(performance.now() - start);
  }
  const [bytes, journalBytes] = [
    fileSystem.bytesOf(/./) / CHANGES,
    fileSystem.bytesOf(subject.journal) / CHANGES,
  ];
  const syncs = (fileSystem.datasyncs / CHANGES).toFixed(2);
  await close();
  await storage.close();
  const cells = [ms(median(times)), Math.round(bytes), Math.round(journalBytes), subject.newBytes, syncs];
  return { cells, journalBytes };
}

for (const subject of [stateSubject, workspaceSubject]) await inTempFolder((base) => measure(subject, base));
