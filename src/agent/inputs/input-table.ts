/** The inputs of an agent's queue, as its journal `inputs` has them. */
import { hash } from 'node:crypto';
import { canonicalJson } from '../../core/canonical-json.js';
import { isJsonObject, type JsonObject, textOr } from '../../core/json.js';
import { tryTraceFromJson } from '../../memory/models/trace-serializer.js';
import type { MemoryStore } from '../../memory/store/memory-store.js';
import type { Message } from '../../messages/message.js';
import { messageFromJson } from '../../messages/message-serializer.js';

/**
 * When an input runs. `queue`: as a turn of its own, after those before it. `steer`: in the running turn, before its next
 * request; without a running turn, as a turn of its own. `interrupt`: the running turn is aborted, and the input runs at once.
 */
export type InputMode = 'queue' | 'steer' | 'interrupt';

/** An input of the queue. */
export interface QueuedInput {
  readonly id: string;
  readonly mode: InputMode;
  /** As it is stored. */
  readonly message: Message;
  /** When it was stored: milliseconds since 1970. */
  readonly at: number;
  readonly state: 'waiting' | 'taken' | 'withdrawn';
  /** The turn that took it; null before. */
  readonly turnId: string | null;
}

/** In the order in which they run. */
export const INPUT_MODES: readonly InputMode[] = ['interrupt', 'steer', 'queue'];

export interface KnownInput {
  readonly id: string;
  readonly mode: InputMode;
  readonly at: number;
  /** Number of its record. */
  readonly seq: number;
  /** Number of the last trace when it was stored. */
  readonly after: number;
  /** Of mode and message. Null if its record was erased or removed. */
  readonly digest: string | null;
  readonly bytes: number;
  state: QueuedInput['state'];
  turnId: string | null;
  /** Null once it does not wait. */
  message: Message | null;
  /** A turn takes it now, or it is withdrawn now. */
  isHeld: boolean;
}

export class InputTable {
  /** In the order of their records. */
  readonly #known = new Map<string, KnownInput>();

  get(id: string): KnownInput | undefined {
    return this.#known.get(id);
  }

  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  /** Neither taken nor withdrawn, oldest first. */
  open(): KnownInput[] {
    return [...this.#known.values()].filter(({ state }) => state === 'waiting');
  }

  /** Free to be taken, in the order in which they run. */
  waiting(): KnownInput[] {
    const free = this.open().filter(({ isHeld }) => !isHeld);
    return INPUT_MODES.flatMap((wanted) => free.filter(({ mode }) => mode === wanted));
  }

  /** A row that is damaged beyond use counts as absent. */
  apply(row: JsonObject, seq: number): void {
    const id = textOr(row['input_id']);
    if (row['event'] === 'queued') this.#add(id, row, seq);
    else if (row['event'] === 'taken') this.#end(id, seq, 'taken', textOr(row['turn_id']));
    else if (row['event'] === 'withdrawn') this.#end(id, seq, 'withdrawn', null);
  }

  /** Forgets the ids of inputs that have ended and whose record comes before `seq`. */
  forgetBefore(seq: number): void {
    for (const [id, input] of this.#known)
      if (input.seq < seq && input.state !== 'waiting') this.#known.delete(id);
  }

  #add(id: string, row: JsonObject, seq: number): void {
    const { mode, message, after, ts } = row;
    if (this.#known.has(id) || !isInputMode(mode) || !isJsonObject(message)) return;
    this.#known.set(id, {
      id,
      mode,
      at: Math.round(Number(ts) * 1000),
      seq,
      after: Number(after) || 0,
      digest: digestOf(mode, message),
      bytes: Buffer.byteLength(JSON.stringify(message)),
      state: 'waiting',
      turnId: null,
      message: messageFromJson(message),
      isHeld: false,
    });
  }

  #end(id: string, seq: number, state: 'taken' | 'withdrawn', turnId: string | null): void {
    const unknown = { id, mode: 'queue', at: 0, seq, after: 0, digest: null, bytes: 0 } as const;
    const input = this.#known.get(id) ?? { ...unknown, state, turnId, message: null, isHeld: false };
    input.state = state;
    input.turnId = turnId;
    input.message = null;
    this.#known.set(id, input);
  }
}

export function isInputMode(mode: unknown): mode is InputMode {
  return INPUT_MODES.includes(mode as InputMode);
}

export function digestOf(mode: InputMode, message: JsonObject): string {
  return hash('sha256', canonicalJson({ mode, message }), 'hex');
}

/** What is stored of an agent's inputs. */
export interface StoredInputs {
  readonly table: InputTable;
  /** Inputs that are in the traces although their end is not recorded: a process was killed between the two. */
  readonly unrecorded: readonly JsonObject[];
}

/** Writes nothing. The table includes what `unrecorded` has. @throws as `Journal.read` */
export async function readInputs(store: MemoryStore): Promise<StoredInputs> {
  const table = new InputTable();
  for await (const entry of (await store.journal('inputs')).read())
    if (entry.kind === 'record') table.apply(entry.record, entry.seq);
  const unrecorded = await unrecordedIn(store, table);
  for (const row of unrecorded) table.apply(row, 0);
  return { table, unrecorded };
}

/** The traces since the oldest input that waits are read: the trace of an input comes after its record. */
async function unrecordedIn(store: MemoryStore, table: InputTable): Promise<JsonObject[]> {
  const open = table.open();
  if (open.length === 0) return [];
  const oldest = Math.min(...open.map(({ after }) => after));
  const rows: JsonObject[] = [];
  for await (const entry of (await store.journal('raw_traces')).readBackward()) {
    if (entry.kind !== 'record') continue;
    if (entry.seq <= oldest) break;
    const trace = tryTraceFromJson(entry.record);
    if (trace?.type !== 'user' || trace.inputId === undefined) continue;
    const { inputId, turnId, ts } = trace;
    if (table.get(inputId)?.state === 'waiting') rows.push(takenRow(inputId, turnId, ts * 1000));
  }
  return rows.reverse();
}

export function takenRow(id: string, turnId: string, nowMs: number): JsonObject {
  return { ts: nowMs / 1000, event: 'taken', input_id: id, turn_id: turnId };
}

/** The inputs that wait, in the order in which they run. Writes nothing. @throws as `Journal.read` */
export async function waitingInputs(store: MemoryStore): Promise<QueuedInput[]> {
  return (await readInputs(store)).table.waiting().map((input) => shown(input));
}

/** @param message of an input that does not wait any more */
export function shown(input: KnownInput, message: Message | null = input.message): QueuedInput {
  const { id, mode, at, state, turnId } = input;
  return { id, mode, message: message ?? { role: 'user', content: null }, at, state, turnId };
}
