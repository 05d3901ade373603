/**
 * Imports another tool's transcript as an agent: its traces, and the artifacts that they refer to. The first restore
 * makes a legal working context from them, with a report.
 *
 * Streaming: neither the transcript nor the context is held in memory. Invalid input is refused before anything is
 * written, as far as possible. An agent from an interrupted import cannot be opened; repeat the same import to continue
 * it.
 */
import { type Clock, systemClock } from '../../core/clock.js';
import { newId } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import type { LossReport } from '../../messages/importers/loss-account.js';
import { type OpenTranscript, openTranscript } from '../../messages/importers/read-transcript.js';
import type { TranscriptItem, TranscriptSource } from '../../messages/importers/transcript.js';
import type { ContentPart, Media, Message } from '../../messages/message.js';
import type { Blobs, StorageBackend } from '../../storage/ports.js';
import { assertAgentIsNew, endBeginning, noteImport, unfinishedImport } from '../open-memory.js';
import { MemoryStore } from '../store/memory-store.js';
import { ToolCallLedger } from '../store/tool-call-ledger.js';
import { EarlierRows } from './earlier-rows.js';
import { assertRecordable } from './record-size.js';
import { SaidSomething } from './said-something.js';
import { isTime, TranscriptTraces } from './transcript-traces.js';

/** Options of `importTranscript`. */
export interface ImportOptions {
  /** Called after each batch. */
  readonly onProgress?: (progress: { readonly messages: number }) => void;
  readonly clock?: Clock;
}

/** What `importTranscript` read and wrote, as counts, and what was lost. */
export interface ImportReport {
  readonly agentId: string;
  readonly format: string;
  readonly title: string;
  readonly messages: number;
  /** How many of them were repeated under the same id; these are written once. */
  readonly replayed: number;
  readonly turns: number;
  readonly traces: number;
  readonly artifacts: number;
  /** Calls without a result. The first restore closes them and says that their outcome is unknown. */
  readonly openCalls: number;
  readonly losses: LossReport;
}

/** Approximate characters of rows per commit. */
const BATCH_CHARS = 512 * 1024;

/**
 * Creates an agent from a transcript of any known format. Durable when it resolves.
 * ```ts
 * const report = await importTranscript(storage, 'ann', sourceOf(transcriptText));
 * ```
 * @throws TRANSCRIPT_UNKNOWN, TRANSCRIPT_INVALID, UNSUPPORTED_VERSION, AGENT_EXISTS, LEASE_HELD, and what storage
 * throws
 */
export async function importTranscript(
  backend: StorageBackend,
  agentId: string,
  source: TranscriptSource,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const transcript = await openTranscript(source);
  await importToken(backend, agentId); // before the long reading, and again under the lease
  const firstTs = transcript.isDocument ? await readThrough(transcript) : null;
  const lease = await backend.leases.acquire(['agents', agentId]);
  try {
    const token = await importToken(backend, agentId);
    const store = new MemoryStore(backend, agentId, lease);
    try {
      const report = await write(store, transcript, { firstTs, token }, options);
      await endBeginning(backend, agentId);
      return report;
    } finally {
      await store.close();
    }
  } finally {
    await lease.release();
  }
}

/** The token of the interrupted import, which continues; else a new one. @throws AGENT_EXISTS */
async function importToken(backend: StorageBackend, agentId: string): Promise<string> {
  const begun = await unfinishedImport(backend, agentId);
  if (begun === null) await assertAgentIsNew(backend, agentId);
  return begun ?? newId('import', Date.now());
}

interface Beginning {
  readonly firstTs: number | null;
  readonly token: string;
}

/**
 * Reads the whole document first: it may be broken at its end, and nothing may be written then. Returns its first time,
 * in seconds.
 */
async function readThrough(transcript: OpenTranscript): Promise<number | null> {
  let firstTs: number | null = null;
  let number = 0;
  const said = new SaidSomething();
  for await (const item of transcript.items()) {
    assertRecordable(item, ++number);
    said.add(item);
    if (firstTs === null && isTime(item.ts)) firstTs = item.ts;
  }
  said.assert();
  return firstTs;
}

async function write(
  store: MemoryStore,
  transcript: OpenTranscript,
  { firstTs, token }: Beginning,
  options: ImportOptions,
): Promise<ImportReport> {
  const clock = options.clock ?? systemClock;
  const traces = new TranscriptTraces(() => clock.nowMs(), firstTs, token);
  const artifacts = new ArtifactMaker(store.backend.blobs(['agents', store.agentId, 'artifacts']));
  const batch = new RowBatch(store, token);
  let number = 0;
  const said = new SaidSomething();
  for await (const given of transcript.items()) {
    const item = await artifacts.storeMediaOf(given);
    if (!transcript.isDocument) {
      assertRecordable(item, ++number);
      said.add(item);
    }
    const isWritten = await batch.add(traces.rowsOf(item));
    if (isWritten) options.onProgress?.({ messages: traces.messages });
  }
  said.assert();
  await batch.add(traces.end());
  if (await batch.flush()) options.onProgress?.({ messages: traces.messages });
  const openCalls = traces.openCalls();
  const ledger = new ToolCallLedger(
    () => store.journal('pending_calls'),
    () => clock.nowMs(),
  );
  const noted = openCalls.length === 0 ? 0 : await ledgerRecords(store);
  for (const call of openCalls.slice(noted)) await ledger.started(call, { idempotent: true });
  return {
    agentId: store.agentId,
    format: transcript.format,
    title: transcript.title,
    messages: traces.messages,
    replayed: traces.replayed,
    turns: traces.turns,
    traces: batch.written,
    artifacts: artifacts.count,
    openCalls: openCalls.length,
    losses: transcript.losses(),
  };
}

/** Number of open calls that an interrupted import already recorded. */
async function ledgerRecords(store: MemoryStore): Promise<number> {
  return (await (await store.journal('pending_calls')).head()).seq;
}

class RowBatch {
  written = 0;
  readonly #store: MemoryStore;
  readonly #token: string;
  /** Rows that an interrupted import of this transcript already wrote. */
  #earlier: EarlierRows | null = null;
  #rows: JsonObject[] = [];
  #chars = 0;

  constructor(store: MemoryStore, token: string) {
    this.#store = store;
    this.#token = token;
  }

  /** True if a batch was committed. */
  async add(rows: readonly JsonObject[]): Promise<boolean> {
    this.#earlier ??= await EarlierRows.of(this.#store);
    for (const row of rows) {
      if (await this.#earlier.has(row)) this.written += 1;
      else {
        this.#rows.push(row);
        this.#chars += sizeOf(row);
      }
    }
    return this.#chars >= BATCH_CHARS && this.flush();
  }

  async flush(): Promise<boolean> {
    if (this.#rows.length === 0) return false;
    const rows = this.#rows;
    this.#rows = [];
    this.#chars = 0;
    if (this.written === 0) await noteImport(this.#store.backend, this.#store.agentId, this.#token);
    await this.#store.addTraces(rows);
    this.written += rows.length;
    return true;
  }
}

function sizeOf(row: JsonObject): number {
  let size = 0;
  for (const value of Object.values(row)) {
    if (typeof value === 'string') size += value.length;
    else if (typeof value === 'object' && value !== null) size += JSON.stringify(value).length;
  }
  return size;
}

/** Turns inline bytes into artifacts: otherwise each row of the journal, and each request, would contain them. */
class ArtifactMaker {
  count = 0;
  readonly #blobs: Blobs;

  constructor(blobs: Blobs) {
    this.#blobs = blobs;
  }

  async storeMediaOf(item: TranscriptItem): Promise<TranscriptItem> {
    if (item.kind === 'message') return { ...item, message: await this.#message(item.message) };
    return { ...item, messages: await Promise.all(item.messages.map((message) => this.#message(message))) };
  }

  async #message(message: Message): Promise<Message> {
    if (!message.parts?.some(isInline)) return message;
    const parts: ContentPart[] = [];
    for (const part of message.parts) {
      parts.push(isInline(part) ? { type: 'media', media: await this.#store(part.media) } : part);
    }
    return { ...message, parts };
  }

  async #store(media: Media): Promise<Media> {
    const match = /^data:([^;,]*)[^,]*;base64,/.exec(media.ref.slice(0, 200));
    if (!match) return media;
    const bytes = Buffer.from(media.ref.slice(match[0].length), 'base64');
    const { digest, size } = await this.#blobs.put(bytes);
    this.count += 1;
    const mime = media.mime ?? match[1];
    return { ...media, ...(mime ? { mime } : {}), ref: `sha256:${digest}`, bytes: size };
  }
}

function isInline(part: ContentPart): part is Extract<ContentPart, { type: 'media' }> {
  return part.type === 'media' && part.media.ref.startsWith('data:');
}
