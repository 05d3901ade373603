/** A transcript of any known format: recognised, read item by item, with its losses accounted for. */
import { RekindleError } from '../../core/errors.js';
import { isNestedTooDeep, VALUE_DEPTH_MAX } from '../../core/json-depth.js';
import { toJsonValue } from '../../core/to-json-value.js';
import { type Message, toolCallsOf } from '../message.js';
import { detectTranscript } from './detect-format.js';
import { IMPORTERS } from './importers.js';
import { LossAccount, type LossReport } from './loss-account.js';
import type { TranscriptImporter, TranscriptItem, TranscriptSource } from './transcript.js';

export interface OpenTranscript {
  readonly format: string;
  readonly title: string;
  /** Why it was taken for this format, with places: `messages/2: a part tool_use (anthropic)`. */
  readonly reasons: readonly string[];
  /** One JSON document (or a folder of them), which may turn out to be broken at its end; lines that are broken are counted. */
  readonly isDocument: boolean;
  /** In the order of the conversation; can be read again. @throws TRANSCRIPT_INVALID, UNSUPPORTED_VERSION */
  items(): AsyncIterable<TranscriptItem>;
  /** Of the last reading. */
  losses(): LossReport;
}

/** Reads the beginning only. @throws TRANSCRIPT_UNKNOWN, listing what was looked for */
export async function openTranscript(
  given: TranscriptSource,
  importers: readonly TranscriptImporter[] = IMPORTERS,
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

/** Of one response. A hundred are many. */
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

/** A value that is nested too deep to be stored is cut, and counted, before anybody walks it. */
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

/** The list that the transcript's tool would have sent next: what a compaction replaced is not in it. In memory. */
export async function contextOf(transcript: OpenTranscript): Promise<Message[]> {
  let messages: Message[] = [];
  for await (const item of transcript.items()) {
    if (item.kind === 'message') messages.push(item.message);
    else messages = [...messages.filter(({ role }) => role === 'system'), ...item.messages];
  }
  return messages;
}
