/**
 * The durable queue of an agent's inputs. An input is durable before it is acknowledged.
 *
 * Each input becomes a user message once, also over a kill. Its trace holds its id and is durable before `taken` is
 * recorded. After a kill between the two, the traces show that it was taken.
 *
 * Stored in `inputs.jsonl`. Nothing is read or made before the first use.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../core/clock.js';
import { RekindleError } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import { toJsonValue } from '../../core/to-json-value.js';
import { type UserInput, userMessageFrom } from '../../memory/memory-input.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import { assertTrace } from '../../memory/models/trace-check.js';
import { traceToJson } from '../../memory/models/trace-serializer.js';
import { messageFromJson, messageToJson } from '../../messages/message-serializer.js';
import type { Journal } from '../../storage/ports.js';
import {
  digestOf,
  type InputMode,
  InputTable,
  isInputMode,
  type KnownInput,
  type QueuedInput,
  readInputs,
  shown,
  takenRow,
} from './input-table.js';

/** Options of `Agent.enqueue`. */
export interface EnqueueOptions {
  /** Makes the call safe to repeat: an id is stored once. At most 200 characters. Default: a new one. */
  readonly id?: string;
  /** Default `queue`. */
  readonly mode?: InputMode;
}

/** Inputs that may wait. */
const WAITING_MAX = 1_000;
/** Bytes of the inputs that wait, with their media. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
const ID_CHARS_MAX = 200;
/** Records whose ids are remembered, in addition to those of inputs that wait. */
const KEPT_RECORDS = 512;
/** Records between two removals of old ones. */
const REMOVE_EVERY = 256;

interface CheckedInput {
  readonly id: string;
  readonly mode: InputMode;
  /** As it is stored. */
  readonly message: JsonObject;
  readonly digest: string;
  /** With media that are stored apart. */
  readonly bytes: number;
  readonly media: readonly Uint8Array[];
}

interface Added {
  readonly input: Promise<QueuedInput>;
  /** False if the id was stored before. */
  readonly isNew: boolean;
}

export class InputQueue {
  readonly #memory: MemoryManager;
  readonly #clock: Clock;
  #table = new InputTable();
  #opened: Promise<void> | null = null;
  /** Inputs are stored in the order of the calls. */
  #lastAdd: Promise<unknown> = Promise.resolve();
  readonly #storing = new Map<string, { readonly input: Promise<KnownInput>; readonly bytes: number }>();
  readonly #writes = new Set<Promise<unknown>>();
  /** Writes so far. */
  #begun = 0;
  /** Number of the last record of this process. */
  #seq = 0;
  #removedAt = 0;

  constructor(memory: MemoryManager, clock: Clock) {
    this.#memory = memory;
    this.#clock = clock;
  }

  /** As known now. */
  get waiting(): readonly KnownInput[] {
    return this.#table.waiting();
  }

  /** Reads what is stored, on the first call and after a failed write. */
  open(): Promise<void> {
    this.#opened ??= this.#read().catch((thrown) => {
      this.#opened = null;
      throw thrown;
    });
    return this.#opened;
  }

  async #read(): Promise<void> {
    await this.#settled();
    const { store } = this.#memory;
    const begun = this.#begun;
    const { table, unrecorded } = await readInputs(store);
    if (this.#begun !== begun) return this.#read(); // an input was added meanwhile
    this.#table = table;
    if (store.readOnly || table.isEmpty) return;
    const journal = await store.journal('inputs');
    if (unrecorded.length === 0) return journal.secure(); // what was read counts as acknowledged
    await (await store.journal('raw_traces')).secure(); // a killed process may not have synced them
    await journal.append(unrecorded);
  }

  /**
   * Durable when it resolves. Nothing is written if it is refused.
   * @throws MESSAGE_INVALID, INVALID_ARGUMENT for an id that is stored with other content, LIMIT_EXCEEDED, and as `Journal.append`
   */
  async add(
    given: UserInput | string,
    options: EnqueueOptions,
  ): Promise<{ input: QueuedInput; isNew: boolean }> {
    const added = this.#lastAdd.then(() => this.#add(given, options));
    this.#lastAdd = added.catch(() => {}); // reported to its caller
    const { input, isNew } = await added;
    return { input: await input, isNew };
  }

  async #add(given: UserInput | string, options: EnqueueOptions): Promise<Added> {
    this.#memory.store.assertWritable();
    const checked = await this.#checked(given, options);
    await this.open();
    const known = this.#storing.get(checked.id)?.input ?? this.#table.get(checked.id);
    if (known) return { input: this.#again(known, checked), isNew: false };
    this.#assertRoom(checked.bytes);
    for (const bytes of checked.media) await this.#memory.blobs.put(bytes);
    await this.open(); // a write may have failed meanwhile
    return { input: this.#store(checked), isNew: true };
  }

  /** Writes nothing. */
  async #checked(given: UserInput | string, options: EnqueueOptions): Promise<CheckedInput> {
    const { id = newId('in', this.#clock.nowMs()), mode = 'queue' } = options;
    if (!isInputMode(mode)) throw refused('mode', 'The mode must be queue, steer or interrupt.', { mode });
    const redactor = this.#memory.store.backend.redactor ?? null;
    const isFit = typeof id === 'string' && id !== '' && id.length <= ID_CHARS_MAX && id.isWellFormed();
    if (!isFit || (redactor && redactor.text(id) !== id))
      throw refused('id', `The id must be a text of 1 to ${ID_CHARS_MAX} characters without sensitive data.`);
    const media: Uint8Array[] = [];
    const put = async (bytes: Uint8Array) => {
      media.push(bytes);
      return { digest: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
    };
    const message = await userMessageFrom(given, { put });
    const head = { id: '', ts: 0, turnId: '', seq: 0, sourceEvent: '' };
    assertTrace(
      toJsonValue(traceToJson({ ...head, type: 'user', message, inputId: id })).value as JsonObject,
    );
    const json = toJsonValue(messageToJson(message)).value as JsonObject;
    const stored = redactor?.json(json) ?? json;
    const bytes = Buffer.byteLength(JSON.stringify(stored)) + media.reduce((sum, one) => sum + one.length, 0);
    return { id, mode, message: stored, digest: digestOf(mode, stored), bytes, media };
  }

  async #again(storing: KnownInput | Promise<KnownInput>, checked: CheckedInput): Promise<QueuedInput> {
    const known = await storing;
    if (known.digest !== null && known.digest !== checked.digest) {
      const { id } = checked;
      const text = `The input ${JSON.stringify(id)} is stored already, with another message or mode. Give each input its own id.`;
      throw refused('id', text, { id });
    }
    return shown(known, messageFromJson(checked.message));
  }

  #assertRoom(bytes: number): void {
    const open = [...this.#table.open(), ...this.#storing.values()];
    if (open.length >= WAITING_MAX) throw full('inputs', WAITING_MAX, open.length + 1);
    const sum = open.reduce((all, input) => all + input.bytes, bytes);
    if (sum > WAITING_BYTES_MAX) throw full('inputBytes', WAITING_BYTES_MAX, sum);
  }

  async #store({ id, mode, message, bytes }: CheckedInput): Promise<QueuedInput> {
    const nowMs = this.#clock.nowMs();
    const after = this.#memory.answerParts.lastTrace;
    const row = { ts: nowMs / 1000, event: 'queued', input_id: id, mode, after, message };
    const input = this.#append(row).then(() => this.#table.get(id)!);
    this.#storing.set(id, { input, bytes });
    return input.then(shownNow).finally(() => this.#storing.delete(id));
  }

  /** The next input to run, held for `take`; null if none waits. */
  async next(mode: InputMode | null = null): Promise<KnownInput | null> {
    await this.open();
    const [input] = this.waiting.filter((one) => mode === null || one.mode === mode);
    if (!input) return null;
    input.isHeld = true;
    return input;
  }

  /** Records the input as a user message of the turn, once. Durable when it resolves. @throws as `Journal.append` */
  take({ id, message }: KnownInput, turnId: string): Promise<void> {
    return this.#written(async () => {
      await this.#memory.ingestQueuedInput(message!, turnId, id);
      await this.#append(takenRow(id, turnId, this.#clock.nowMs()));
      this.#removeOld();
    });
  }

  /** Durable when it resolves. False if it does not wait. @throws as `Journal.append` */
  async withdraw(id: string): Promise<boolean> {
    await this.open();
    const input = this.waiting.find((one) => one.id === id);
    if (!input) return false;
    input.isHeld = true;
    await this.#append({ ts: this.#clock.nowMs() / 1000, event: 'withdrawn', input_id: id });
    this.#removeOld();
    return true;
  }

  /** Resolves when no call is in progress. */
  async idle(): Promise<void> {
    await this.#lastAdd;
    await this.#settled();
  }

  /** Resolves when no write is in progress. */
  async #settled(): Promise<void> {
    while (this.#writes.size > 0) await Promise.allSettled(this.#writes);
  }

  #append(row: JsonObject): Promise<void> {
    this.#begun += 1;
    return this.#written(async () => {
      const { seq } = await (await this.#journal()).append([row]);
      this.#table.apply(row, seq);
      this.#seq = seq;
    });
  }

  /** After a failure it is read again what is stored. */
  #written(work: () => Promise<void>): Promise<void> {
    const write = work().catch((thrown) => {
      this.#opened = null;
      throw thrown;
    });
    this.#writes.add(write);
    const end = () => this.#writes.delete(write);
    write.then(end, end);
    return write;
  }

  #journal(): Promise<Journal<JsonObject>> {
    return this.#memory.store.journal('inputs');
  }

  /** Keeps what waits, and the ids of the last records. */
  #removeOld(): void {
    const seq = this.#seq;
    if (seq - this.#removedAt < REMOVE_EVERY) return;
    this.#removedAt = seq;
    const needed = Math.min(seq - KEPT_RECORDS + 1, ...this.#table.open().map((input) => input.seq));
    if (needed <= 1) return;
    this.#table.forgetBefore(needed);
    const remove = this.#journal().then((journal) => journal.removeBefore(needed));
    this.#writes.add(remove);
    const end = () => this.#writes.delete(remove); // after a failure, a later call removes them
    remove.then(end, end);
  }
}

function shownNow(input: KnownInput): QueuedInput {
  return shown(input);
}

function refused(argument: string, text: string, details: JsonObject = {}): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', text, { details: { argument, ...details } });
}

function full(limit: string, allowed: number, actual: number): RekindleError {
  const text = `The queue of inputs is full: ${actual.toLocaleString('en')} ${limit === 'inputs' ? 'inputs' : 'bytes'} would wait, ${allowed.toLocaleString('en')} may. Wait until some have run, or withdraw some.`;
  return new RekindleError('LIMIT_EXCEEDED', text, { details: { limit, allowed, actual } });
}
