/** Opens a transcript of any known format: detects the format, reads it item by item, and reports the losses. */
import { RekindleError } from '../../core/errors.js';
import { isNestedTooDeep, VALUE_DEPTH_MAX } from '../../core/json-depth.js';
import { toJsonValue } from '../../core/to-json-value.js';
import { type Message, toolCallsOf } from '../message.js';
import { detectTranscript } from './detect-format.js';
import { LossAccount, type LossReport } from './loss-account.js';
import { knownImporters } from './registered-formats.js';
import type { TranscriptImporter, TranscriptItem, TranscriptSource } from './transcript.js';

/** A transcript whose format is known. Nothing beyond its beginning has been read yet. */
export interface OpenTranscript {
  readonly format: string;
  readonly title: string;
  /** Why this format was chosen, with places: `messages/2: a part tool_use (anthropic)`. */
  readonly reasons: readonly string[];
  /**
   * One JSON document (or a folder of them), which may be cut off at its end, or a text. Otherwise JSON lines; invalid
   * lines are counted.
   */
  readonly isDocument: boolean;
  /** Items in conversation order. Can be read more than once. @throws TRANSCRIPT_INVALID, UNSUPPORTED_VERSION */
  items(): AsyncIterable<TranscriptItem>;
  /** The losses of the last reading. */
  losses(): LossReport;
}

/**
 * Reads only the beginning.
 *
 * @param importers by default the registered formats, then the built-in ones
 * @throws TRANSCRIPT_UNKNOWN, listing the formats that were looked for
 */
export async function openTranscript(
  given: TranscriptSource,
  importers: readonly TranscriptImporter[] = knownImporters(),
): Promise<OpenTranscript> {
  const { importer, source, shape, reasons } = await detectTranscript(given, importers);
  let account = new LossAccount();
  return {
    format: importer.format,
    title: importer.title,
    reasons,
    isDocument: shape !== 'lines',
    items: () => {
      account = new LossAccount();
      return boundedItems(importer.read(source, account), account);
    },
    losses: () => account.report(),
  };
}

/** Maximum number of calls of one response. Even a hundred are many. */
const CALLS_MAX = 100_000;

function assertCallCount(item: TranscriptItem, number: number): void {
  const calls = item.kind === 'message' ? toolCallsOf(item.message).length : 0;
  if (calls <= CALLS_MAX) return;
  throw new RekindleError(
    'TRANSCRIPT_INVALID',
    `Message ${number} has ${calls} tool calls, and one message has at most ${CALLS_MAX}.`,
    { details: { problem: 'too large', message: number, calls, callsMax: CALLS_MAX } },
  );
}

/** A value nested too deeply to be stored is cut and counted before other code traverses it. */
async function* boundedItems(
  items: AsyncIterable<TranscriptItem>,
  losses: LossAccount,
): AsyncGenerator<TranscriptItem> {
  let number = 0;
  for await (const item of items) {
    number += 1;
    assertCallCount(item, number);
    if (!isNestedTooDeep(item)) yield item;
    else {
      losses.approximate(`a value nested deeper than ${VALUE_DEPTH_MAX} levels, cut there`, 'messages');
      yield toJsonValue(item).value as unknown as TranscriptItem;
    }
  }
}

/** The list that the transcript's tool would send next: messages that a compaction replaced are not in it. Held in memory. */
export async function contextOf(transcript: OpenTranscript): Promise<Message[]> {
  let messages: Message[] = [];
  for await (const item of transcript.items()) {
    if (item.kind === 'message') messages.push(item.message);
    else messages = [...messages.filter(({ role }) => role === 'system'), ...item.messages];
  }
  return messages;
}
