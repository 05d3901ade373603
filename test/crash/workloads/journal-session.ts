/** A process that appends to a journal, and the check of what a later one finds. Shared by the journal workloads. */
import type { JsonObject } from '../../../src/core/json.js';
import type { FileStorageOptions } from '../../../src/storage/file/file-storage.js';
import type { Journal, Name, StorageBackend } from '../../../src/storage/ports.js';
import type { Fact } from '../history.js';
import { demand, openStorage, type RebootedProcess, type RunningProcess, type Session } from '../workload.js';
import { assertNothingDestroyed } from './nothing-destroyed.js';

export type Note = { text: string } & JsonObject;

export const JOURNAL = ['agent', 'notes'];

export interface Found {
  readonly seq: number;
  readonly text: string;
}

export class JournalSession implements Session {
  readonly process: RunningProcess;
  readonly #options: FileStorageOptions;
  #storage!: StorageBackend;
  journal!: Journal<Note>;
  #count = 0;
  /** Records of earlier processes, seen when this one opened the journal; its own appends build upon them. */
  #inherited: readonly Found[] = [];

  private constructor(process: RunningProcess, options: FileStorageOptions) {
    this.process = process;
    this.#options = options;
  }

  static async start(process: RunningProcess, options: FileStorageOptions = {}): Promise<JournalSession> {
    const session = new JournalSession(process, options);
    await session.open();
    return session;
  }

  async apply(operation: string): Promise<void> {
    const match = /^(append|batch|long|gather)(?: (\d+))?$/.exec(operation);
    if (match) await this.#append(match[1]!, Number(match[2] ?? 1));
    else if (operation === 'reopen') await this.#reopen();
    else if (operation === 'archive') await this.#archive();
    else demand(false, () => `unknown operation ${operation}`);
  }

  dispose(): Promise<void> {
    return this.close();
  }

  async open(): Promise<void> {
    this.#storage = openStorage(this.process, this.#options);
    this.journal = await this.#storage.openJournal<Note>(JOURNAL);
    this.#inherited = await readAll(this.journal);
  }

  async close(): Promise<void> {
    await this.journal.close();
    await this.#storage.close();
  }

  /** One append that resolves; what it acknowledges goes into the history. */
  async append(texts: readonly string[]): Promise<void> {
    const begun = texts.map((text) => ({ text, ack: this.process.history.begin({ kind: 'append', text }) }));
    const { seq } = await this.journal.append(texts.map((text) => ({ text })));
    for (const [index, { ack }] of begun.entries()) ack({ seq: seq - begun.length + 1 + index });
    this.#confirmInherited();
  }

  newText(length = 8): string {
    return `p${this.process.identity.owner().pid}-${++this.#count}`.padEnd(length, '.');
  }

  async #append(kind: string, count: number): Promise<void> {
    const texts = Array.from({ length: count }, () => this.newText(kind === 'long' ? 1_200 : 8));
    if (kind === 'batch') await this.append(texts);
    else await Promise.all(texts.map((text) => this.append([text])));
  }

  async #reopen(): Promise<void> {
    await this.close();
    await this.open();
  }

  /** Sets aside all that was written so far. */
  async #archive(): Promise<void> {
    const { seq } = await this.journal.head();
    await this.journal.archiveBefore(seq + 1);
  }

  #confirmInherited(): void {
    for (const { seq, text } of this.#inherited)
      this.process.history.confirm((fact) => fact['text'] === text, { seq });
    this.#inherited = [];
  }
}

export async function readAll(journal: Journal<Note>): Promise<Found[]> {
  const found: Found[] = [];
  for await (const entry of journal.read({ archived: true })) {
    if (entry.kind === 'record') found.push({ seq: entry.seq, text: entry.record.text });
  }
  return found;
}

/**
 * Recovers, checks what is there, appends, and checks again, also after one more power cut.
 * @param leaseName the lease that the writers use; without it the journal takes its own
 */
export async function checkJournal(
  process: RebootedProcess,
  options: FileStorageOptions = {},
  leaseName?: Name,
): Promise<void> {
  const before = process.disk.contents();
  const opened = await openLeased(process, options, leaseName);
  const { journal } = opened;
  const found = await readAll(journal);
  checkFound(found, process.facts);
  if (process.thorough) await checkBackward(journal, found);
  const added = await appendOne(journal, found);
  if (process.thorough) demandSame(await readAll(journal), [...found, added], 'after a further append');
  await opened.close();
  assertNothingDestroyed(before, process.disk.contents());
  await checkAgain(process.next(), [...found, added], options, leaseName);
}

interface OpenedJournal {
  readonly journal: Journal<Note>;
  close(): Promise<void>;
}

async function openLeased(
  process: RebootedProcess,
  options: FileStorageOptions,
  leaseName: Name | undefined,
): Promise<OpenedJournal> {
  const storage = openStorage(process, options);
  const lease = leaseName ? await storage.leases.acquire(leaseName) : null;
  const journal = await storage.openJournal<Note>(JOURNAL, lease ? { lease } : {});
  const close = async () => {
    await journal.close();
    await lease?.release();
    await storage.close();
  };
  return { journal, close };
}

async function openReadOnly(process: RebootedProcess, options: FileStorageOptions): Promise<OpenedJournal> {
  const storage = openStorage(process, options);
  const journal = await storage.openJournal<Note>(JOURNAL, { readOnly: true });
  return { journal, close: () => storage.close() };
}

async function appendOne(journal: Journal<Note>, found: readonly Found[]): Promise<Found> {
  const head = await journal.head();
  const { seq } = await journal.append([{ text: 'after' }], { expectedSeq: head.seq });
  const last = found.at(-1)?.seq ?? 0;
  demand(head.seq >= last, () => `the head says ${head.seq}, but record ${last} was read`);
  demand(seq === head.seq + 1, () => `the append after the head ${head.seq} got number ${seq}`);
  return { seq, text: 'after' };
}

/** The next process; with one power cut more, so that what recovery acknowledged was durable. */
async function checkAgain(
  process: RebootedProcess,
  all: readonly Found[],
  options: FileStorageOptions,
  leaseName: Name | undefined,
): Promise<void> {
  const opened = process.thorough
    ? await openLeased(process, options, leaseName)
    : await openReadOnly(process, options);
  demandSame(await readAll(opened.journal), all, 'after a second recovery');
  if (process.thorough) await appendOne(opened.journal, all);
  await opened.close();
}

/** P1: what was acknowledged is there once, under its number, in order; nothing is there that was not begun. */
function checkFound(found: readonly Found[], facts: readonly Fact[]): void {
  const order = new Map(facts.map((fact, index) => [fact.fact['text'] as string, index]));
  let lastSeq = 0;
  const lastIndexes = new Map<string, number>(); // each writer's own order holds; several may write at once
  for (const { seq, text } of found) {
    const index = order.get(text) ?? -1;
    demand(index >= 0, () => `record ${seq} was never appended: ${JSON.stringify(text).slice(0, 80)}`);
    const writer = text.split('-')[0]!;
    const before = lastIndexes.get(writer) ?? -1;
    demand(index > before, () => `record ${text.slice(0, 12)} is there twice, or out of order`);
    demand(seq > lastSeq, () => `number ${seq} comes after ${lastSeq}`);
    lastSeq = seq;
    lastIndexes.set(writer, index);
  }
  const seqs = new Map(found.map(({ seq, text }) => [text, seq]));
  for (const { fact, acked } of facts) {
    if (acked === null) continue;
    const text = fact['text'] as string;
    const seq = seqs.get(text);
    demand(
      seq !== undefined,
      () => `acknowledged record ${text.slice(0, 12)} (number ${acked['seq']}) is lost`,
    );
    demand(
      seq === acked['seq'],
      () => `acknowledged record ${text.slice(0, 12)} had number ${acked['seq']}, now ${seq}`,
    );
  }
}

async function checkBackward(journal: Journal<Note>, found: readonly Found[]): Promise<void> {
  const backward: Found[] = [];
  for await (const entry of journal.readBackward()) {
    if (entry.kind === 'record') backward.unshift({ seq: entry.seq, text: entry.record.text });
  }
  demandSame(backward, found.slice(found.length - backward.length), 'read backward');
  const head = await journal.head();
  const last = backward.at(-1);
  demand(!last || head.seq >= last.seq, () => `the head is ${head.seq}, the last record ${last?.seq}`);
}

function demandSame(actual: readonly Found[], expected: readonly Found[], when: string): void {
  const list = (records: readonly Found[]) =>
    records.map(({ seq, text }) => `${seq}:${text.slice(0, 12)}`).join(' ');
  const same =
    actual.length === expected.length &&
    actual.every((record, i) => record.seq === expected[i]!.seq && record.text === expected[i]!.text);
  demand(same, () => `${when}: found ${list(actual) || 'nothing'}; expected ${list(expected) || 'nothing'}`);
}
