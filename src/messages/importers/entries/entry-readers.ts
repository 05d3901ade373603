/** A reader for each format of message lists. */
import { isJsonObject, type JsonValue } from '../../../core/json.js';
import type { Message, Origin } from '../../message.js';
import { messagesFrom } from '../ai-sdk/ai-sdk-model-messages.js';
import { uiMessagesFrom } from '../ai-sdk/ai-sdk-ui-messages.js';
import { AnthropicReader } from '../anthropic/anthropic.js';
import { GeminiReader } from '../gemini/gemini-reader.js';
import type { LossAccount } from '../loss-account.js';
import { MemberReader } from '../openai-chat/chat-entries.js';
import { keepMessage } from '../reading/keep-message.js';
import { OpenCalls } from '../reading/open-calls.js';
import { isMemoryMessage, storedFormOf } from '../rekindle/memory-message.js';
import { neutralMessageFrom } from '../rekindle/neutral-message.js';
import { ResponsesReader } from '../responses/responses-reader.js';
import type { TranscriptItem } from '../transcript.js';
import type { EntryFormat } from './entry-format.js';
import type { EntryReader } from './entry-reader.js';

/** @param origin of the answers that do not name it themselves */
export function readerOf(format: EntryFormat, losses: LossAccount, origin?: Origin): EntryReader {
  switch (format) {
    case 'anthropic':
      return new AnthropicReader(losses, undefined, origin);
    case 'openai-responses':
      return new ResponsesReader(losses, origin);
    case 'gemini':
      return new GeminiReader(losses, origin);
    default:
      return new SingleReader(perEntry(format, losses), losses);
  }
}

type ReadEntry = (entry: JsonValue, place: string) => Iterable<Message>;

function perEntry(
  format: Exclude<EntryFormat, 'anthropic' | 'openai-responses' | 'gemini'>,
  losses: LossAccount,
) {
  const reading = { losses, openCalls: new OpenCalls() };
  const chat = new MemberReader(losses);
  const readers: Readonly<Record<typeof format, ReadEntry>> = {
    rekindle: (entry, place) => ownMessageFrom(entry, place, losses),
    'ai-sdk-ui': (entry, place) => (isJsonObject(entry) ? uiMessagesFrom(entry, place, reading) : []),
    'ai-sdk-model': (entry, place) => (isJsonObject(entry) ? messagesFrom(entry, place, reading) : []),
    'openai-chat': (entry, place) => chat.read(entry, place),
  };
  return readers[format];
}

function ownMessageFrom(entry: JsonValue, place: string, losses: LossAccount): Message[] {
  if (!isJsonObject(entry) || typeof entry['role'] !== 'string') {
    losses.unreadable('a member that is not a message', place);
    return [];
  }
  return [neutralMessageFrom(isMemoryMessage(entry) ? storedFormOf(entry) : entry)];
}

/** For formats in which each entry is one message. */
class SingleReader implements EntryReader {
  readonly #messagesOf: ReadEntry;
  readonly #losses: LossAccount;

  constructor(messagesOf: ReadEntry, losses: LossAccount) {
    this.#messagesOf = messagesOf;
    this.#losses = losses;
  }

  *read(entry: JsonValue, place: string): Generator<TranscriptItem> {
    if (!isJsonObject(entry)) this.#losses.unreadable('an entry that is not an object', place);
    else
      for (const message of this.#messagesOf(entry, place)) {
        keepMessage(message, this.#losses);
        yield { kind: 'message', message };
      }
  }

  end(): Iterable<TranscriptItem> {
    return [];
  }
}
