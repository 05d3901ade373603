/** Reads a host's messages of any known format as neutral messages: all of them completely, or an error. */
import { RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import type { JsonChangeKind } from '../../core/json-changes.js';
import { toJsonValue } from '../../core/to-json-value.js';
import type { Message, Origin } from '../message.js';
import { EntryDetection, formatOfEntry } from './entries/detect-entries.js';
import { ENTRY_FORMATS, type EntryFormat } from './entries/entry-format.js';
import type { EntryReader } from './entries/entry-reader.js';
import { readerOf } from './entries/entry-readers.js';
import { LossAccount, type LossReport } from './loss-account.js';
import type { TranscriptItem } from './transcript.js';

/** How to read the entries; by default the format is detected. */
export interface ReadMessagesOptions {
  /** Skips detection. An entry that only another format has is rejected then. */
  readonly format?: EntryFormat;
  /** Origin of the answers that do not name their model. */
  readonly origin?: Origin;
}

/** The result of `readMessages`. */
export interface ReadMessages {
  /** Unrepaired; `repairHistory` makes them legal. */
  readonly messages: Message[];
  /** The detected format of the list. An entry that clearly has another format is read in that format. */
  readonly format: EntryFormat;
  /** Why this format was chosen. */
  readonly reasons: readonly string[];
  /** What was approximated or dropped, such as cache markers and data parts of a page. */
  readonly losses: LossReport;
}

/**
 * Reads messages, items or whole responses of OpenAI chat, OpenAI Responses, Anthropic, Gemini, the AI SDK
 * (`ModelMessage` and `UIMessage`) and Rekindle. Pure; the input is not changed. An empty list gives an empty list.
 *
 * @throws MESSAGE_INVALID with `index` and `reason`, for an entry that cannot be read completely
 * @throws TRANSCRIPT_UNKNOWN if nothing shows that the entries are messages
 */
export function readMessages(entries: readonly unknown[], options: ReadMessagesOptions = {}): ReadMessages {
  const losses = new StrictLossAccount();
  const json = entries.map((entry, index) => jsonOf(entry, index, losses));
  const { format, reasons } = detected(json, options);
  const lists = new MixedReader(format, losses, options);
  let messages: Message[] = [];
  const add = (items: Iterable<TranscriptItem>) => {
    for (const item of items) {
      if (item.kind === 'message') messages.push(withOrigin(item.message, options.origin));
      else messages = [...messages.filter(({ role }) => role === 'system'), ...item.messages];
    }
  };
  for (const [index, entry] of json.entries()) {
    losses.record();
    losses.index = index;
    add(lists.read(entry, `messages/${index}`, index));
  }
  add(lists.end());
  return { messages, format, reasons, losses: losses.report() };
}

/** Throws as soon as something cannot be carried over completely. */
class StrictLossAccount extends LossAccount {
  index = 0;

  override unreadable(what: string, place: string): void {
    throw refused(this.index, what, place);
  }
}

/** Changes that make a value differ from the given one. */
const BROKEN: ReadonlySet<JsonChangeKind> = new Set(['cycle', 'throws', 'opaque', 'depth', 'size']);

function jsonOf(entry: unknown, index: number, losses: LossAccount): JsonValue {
  const { value, changes } = toJsonValue(entry);
  for (const { kind, path } of changes) {
    if (BROKEN.has(kind)) throw refused(index, REASONS[kind] ?? kind, path);
    if (kind === 'surrogate' || kind === 'non-finite' || kind === 'key')
      losses.approximate(`a value that JSON does not have (${kind})`, `messages/${index}${path}`);
  }
  return value;
}

const REASONS: Partial<Record<JsonChangeKind, string>> = {
  cycle: 'it refers to itself',
  throws: 'a property cannot be read',
  opaque: 'a value has no form in JSON',
  depth: 'it is nested too deep',
  size: 'it is too large',
};

function detected(
  entries: readonly JsonValue[],
  { format }: ReadMessagesOptions,
): Pick<ReadMessages, 'format' | 'reasons'> {
  if (format !== undefined) {
    if (!ENTRY_FORMATS.includes(format)) throw unknownFormat(format);
    return { format, reasons: ['the caller named the format'] };
  }
  const detection = new EntryDetection();
  for (const [index, entry] of entries.entries()) detection.add(entry, `messages/${index}`);
  const found = detection.result({ ofAll: false });
  if (found) return found;
  if (entries.length === 0) return { format: 'rekindle', reasons: ['the list is empty'] };
  throw new RekindleError('TRANSCRIPT_UNKNOWN', 'The entries have no known message format.', {
    details: { entries: entries.length, lookedFor: [...ENTRY_FORMATS] },
  });
}

/** An entry that only another format has is read by that format's reader. */
class MixedReader {
  readonly #format: EntryFormat;
  readonly #losses: LossAccount;
  readonly #options: ReadMessagesOptions;
  readonly #readers = new Map<EntryFormat, EntryReader>();
  #last: EntryReader | null = null;

  constructor(format: EntryFormat, losses: LossAccount, options: ReadMessagesOptions) {
    this.#format = format;
    this.#losses = losses;
    this.#options = options;
  }

  *read(entry: JsonValue, place: string, index: number): Generator<TranscriptItem> {
    const own = formatOfEntry(entry) ?? this.#format;
    if (own !== this.#format && this.#options.format !== undefined)
      throw refused(index, `its format is ${own} instead of ${this.#format}`, place);
    const reader = this.#readerOf(own);
    if (reader !== this.#last) yield* this.end();
    this.#last = reader;
    yield* reader.read(entry, place);
  }

  end(): Iterable<TranscriptItem> {
    return this.#last?.end() ?? [];
  }

  #readerOf(format: EntryFormat): EntryReader {
    const known = this.#readers.get(format);
    if (known) return known;
    const reader = readerOf(format, this.#losses, this.#options.origin);
    this.#readers.set(format, reader);
    return reader;
  }
}

function withOrigin(message: Message, origin: Origin | undefined): Message {
  return message.role === 'assistant' && message.origin === undefined && origin
    ? { ...message, origin }
    : message;
}

function refused(index: number, reason: string, place: string): RekindleError {
  return new RekindleError('MESSAGE_INVALID', `Message ${index} cannot be read: ${reason}.`, {
    details: { index, reason, place },
  });
}

function unknownFormat(format: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `Unknown message format ${JSON.stringify(format)}.`, {
    details: { argument: 'format', known: [...ENTRY_FORMATS] },
  });
}
