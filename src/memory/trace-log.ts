/**
 * Append, then apply: the only way in which the state of an agent's memory changes.
 *
 * Rows are written to the journal (durable when the promise resolves). Then the reducer applies the stored JSON, so
 * that the live state equals the state that a restore reads later. A failed append leaves the state unchanged. Appends
 * may overlap; they share commits and are applied in the order of their calls.
 */
import type { Clock } from '../core/clock.js';
import { isRekindleError } from '../core/errors.js';
import { newId } from '../core/ids.js';
import type { JsonObject } from '../core/json.js';
import { toJsonValue } from '../core/to-json-value.js';
import type { Note } from '../messages/legality/rule.js';
import { followFrom } from '../storage/journal-position.js';
import type { JournalHead } from '../storage/ports.js';
import type { UnknownTraces } from './models/journal-header.js';
import type { Boundary, Trace } from './models/trace.js';
import { assertTrace } from './models/trace-check.js';
import { traceFromJson, traceToJson } from './models/trace-serializer.js';
import type { AddedTraces, MemoryStore } from './store/memory-store.js';
import { boundaryBody, type TraceBody } from './trace-bodies.js';
import { TurnSequence } from './turn-sequence.js';
import { applyTrace, emptyMemoryState, type MemoryState } from './working-context-reducer.js';
import type { ResultPlacement } from './working-context-snapshot.js';

/** A restored state, and what is known about it. */
export interface RestoredMemory {
  readonly state: MemoryState;
  /** The last record that the state includes. */
  readonly head: JournalHead;
  /** Traces that the state includes but the journal lacks: written before the next append. */
  readonly pending: readonly Boundary[];
  /** The reader version that the journal declares; 0 without a header. */
  readonly reader: number;
  readonly unknown: readonly UnknownTraces[];
}

export class TraceLog {
  readonly #store: MemoryStore;
  readonly #clock: Clock;
  readonly #onIgnored: (callId: string, placement: ResultPlacement) => void;
  readonly #onMended: Note;
  readonly #sequence = new TurnSequence();
  #state: MemoryState = emptyMemoryState();
  #head: JournalHead = { seq: 0, cursor: null, crc: null };
  #unknown: readonly UnknownTraces[] = [];
  #pending: JsonObject[] = [];
  /** The journal may contain an append whose outcome is unknown. */
  #unsure = false;
  #catchingUp: Promise<boolean> | null = null;
  #flushing: Promise<void> | null = null;

  /**
   * @param onIgnored called for results without a place in the context
   * @param onMended called for input that was not legal: the trace has it unchanged, the context has it fixed
   */
  constructor(
    store: MemoryStore,
    clock: Clock,
    onIgnored: (callId: string, placement: ResultPlacement) => void,
    onMended: Note,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#onIgnored = onIgnored;
    this.#onMended = onMended;
  }

  get state(): MemoryState {
    return this.#state;
  }

  /** The last record that the state includes. */
  get head(): JournalHead {
    return this.#head;
  }

  /** Kinds of traces that the last restore did not understand. */
  get unknown(): readonly UnknownTraces[] {
    return this.#unknown;
  }

  /** Takes over a restored state. Writes nothing. */
  adopt(restored: RestoredMemory): void {
    this.#store.declare(restored.reader);
    this.#state = restored.state;
    this.#head = restored.head;
    this.#unknown = restored.unknown;
    this.#pending = restored.pending.map((boundary) => this.#rowFor('', boundaryBody(boundary, 'Restore')));
    // A redacted base is what the next restore reads.
    if (this.#store.backend.redactor) for (const row of this.#pending) this.#apply(row);
  }

  /** One commit. `expectedSeq`: only if nothing was appended in between. */
  async append(turnId: string, bodies: readonly TraceBody[], expectedSeq?: number): Promise<void> {
    if (bodies.length === 0) return;
    if (this.#unsure) await this.#catchUp();
    const rows = bodies.map((body) => this.#rowFor(turnId, body));
    for (const row of rows) assertTrace(row);
    await this.flushPending();
    const result = await this.#add(rows, expectedSeq);
    await this.#catchingUp;
    if (result.seq <= this.#head.seq) return; // it was read back together with an append whose outcome was unknown
    const unseen = result.seq > this.#head.seq + result.records;
    if (unseen && (await this.#catchUp())) return;
    this.#head = { seq: result.seq, cursor: result.cursor, crc: result.crc };
    for (const row of rows) this.#apply(row);
  }

  /** Throws what `append` would throw, so that several appends are rejected before the first one. @throws MESSAGE_INVALID */
  check(turnId: string, bodies: readonly TraceBody[]): void {
    for (const body of bodies) {
      const trace = { id: '', ts: 0, turnId, seq: 0, ...body } as Trace;
      assertTrace(toJsonValue(traceToJson(trace)).value as JsonObject);
    }
  }

  async #add(rows: readonly JsonObject[], expectedSeq?: number): Promise<AddedTraces> {
    try {
      return await this.#store.addTraces(rows, expectedSeq);
    } catch (thrown) {
      if (isRekindleError(thrown, 'JOURNAL_OUTCOME_UNKNOWN')) this.#unsure = true;
      const isBehind = isRekindleError(thrown, 'JOURNAL_CONFLICT') && expectedSeq === this.#head.seq;
      const end = isBehind ? await this.#endBehindDamage() : null;
      if (end === null || end === expectedSeq) throw thrown;
      return this.#store.addTraces(rows, end);
    }
  }

  /** The end of the journal if only damage follows the last record; null if there is a record that the state lacks. */
  async #endBehindDamage(): Promise<number | null> {
    const { seq, cursor } = this.#head;
    const journal = await this.#store.journal('raw_traces');
    const end = await journal.head();
    for await (const entry of journal.read(cursor === null ? { after: seq } : { after: seq - 1, cursor })) {
      if (entry.kind === 'record' && entry.seq > seq) return null;
    }
    return end.seq;
  }

  /**
   * Applies records that the state lacks: an append whose outcome was unknown may be stored. False if that cannot be
   * determined.
   */
  #catchUp(): Promise<boolean> {
    this.#catchingUp ??= this.#readOn().finally(() => {
      this.#catchingUp = null;
    });
    return this.#catchingUp;
  }

  async #readOn(): Promise<boolean> {
    const journal = await this.#store.journal('raw_traces');
    await journal.head(); // a backend that can determine the outcome does so now
    const known = this.#head;
    // Without its position it could be read only from the beginning, where everything is already applied.
    const isPlaced = known.seq === 0 || known.cursor !== null;
    const head = isPlaced ? await followFrom(journal, known, (entry) => this.#apply(entry.record)) : null;
    if (head) this.#head = head;
    this.#unsure = false;
    return head !== null;
  }

  /** As `append`; in a read-only store only in memory. For repairs of a restore. */
  async appendRepair(turnId: string, bodies: readonly TraceBody[]): Promise<void> {
    if (!this.#store.readOnly) await this.append(turnId, bodies);
    else for (const body of bodies) this.#apply(this.#rowFor(turnId, body));
  }

  /** Writes the pending traces of a restore: alone and before the first append, so that they cannot come after it. */
  flushPending(): Promise<void> | undefined {
    if (this.#flushing) return this.#flushing;
    if (this.#pending.length === 0 || this.#store.readOnly) return undefined;
    this.#flushing = this.#store
      .addTraces(this.#pending)
      .then((result) => {
        this.#pending = [];
        this.#head = { seq: result.seq, cursor: result.cursor, crc: result.crc };
      })
      .finally(() => {
        this.#flushing = null;
      });
    return this.#flushing;
  }

  #rowFor(turnId: string, body: TraceBody): JsonObject {
    const nowMs = this.#clock.nowMs();
    const seq = this.#sequence.next(turnId, this.#state);
    const trace = { id: newId('rt', nowMs), ts: nowMs / 1000, turnId, seq, ...body } as Trace;
    this.#store.given.note(trace);
    const row = toJsonValue(traceToJson(trace)).value as JsonObject;
    return this.#store.backend.redactor?.json(row) ?? row;
  }

  #apply(row: JsonObject): void {
    const trace = traceFromJson(row);
    const placement = applyTrace(this.#state, trace, this.#onMended);
    if ((placement === 'duplicate' || placement === 'orphan') && trace.type === 'tool_result') {
      this.#onIgnored(trace.result.toolCallId, placement);
    }
  }
}
