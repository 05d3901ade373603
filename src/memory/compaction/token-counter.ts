/** Counts the tokens of messages with a real tokenizer (o200k), loaded on first use. Each message is counted once. */
import { canonicalJson } from '../../core/canonical-json.js';
import { countInSlices } from '../../core/text-tokens.js';
import { TimeSlices } from '../../core/time-slices.js';
import { type Message, type ReasoningItem, textOf } from '../../messages/message.js';
import { messageToJson } from '../../messages/message-serializer.js';

/** Counts tokens. Must be deterministic and never negative. */
export interface TokenCounter {
  /** May yield to the event loop while it counts. */
  countMessages(messages: readonly Message[]): Promise<number>;
}

/** Tokens that providers add around each message. */
const MESSAGE_OVERHEAD_TOKENS = 4;
/** Tokens counted for an image or other media item: about the cost of a large image. */
const MEDIA_TOKENS = 1_500;
const SEALED_CHARS_A_TOKEN = 4;

/** Bytes of text in a message: an upper bound for its tokens that is much cheaper to compute. */
export function tokenBound(message: Message): number {
  const media = (message.parts?.length ?? 0) + (message.imageUrls?.length ?? 0);
  const payload = message.toolPayload ? Buffer.byteLength(JSON.stringify(message.toolPayload)) : 0;
  const text =
    Buffer.byteLength(textOf(message)) + Buffer.byteLength(besideText(message)) + sealedChars(message);
  return text + payload + media * MEDIA_TOKENS + MESSAGE_OVERHEAD_TOKENS;
}

/** An estimate without a tokenizer: one token per four bytes. */
export function roughTokens(message: Message): number {
  return Math.ceil(tokenBound(message) / 4);
}

/** What is sent to the provider in addition to the text: reasoning, and items that only the provider reads. */
function besideText(message: Message): string {
  const { reasoningContent = '', providerItems = [] } = message;
  const thoughts = reasoningOf(message).map(({ text }) => text ?? '');
  const items = providerItems.map(({ item }) => JSON.stringify(item));
  return [reasoningContent, ...thoughts, ...items].join('');
}

/** Encrypted characters: providers count the decrypted text, about one token per four characters. */
function sealedChars(message: Message): number {
  return reasoningOf(message).reduce(
    (sum, { signature = '', encrypted = '' }) => sum + signature.length + encrypted.length,
    0,
  );
}

function reasoningOf({ reasoning = [], parts = [] }: Message): ReasoningItem[] {
  return [...reasoning, ...parts.flatMap((part) => (part.type === 'reasoning' ? part.reasoning : []))];
}

/**
 * The default `TokenCounter`. Uses the o200k encoding, loaded at the first count, and caches the count of each message.
 * Loads and counts in time slices, so that the event loop runs meanwhile.
 */
export class O200kTokenCounter implements TokenCounter {
  readonly #known = new WeakMap<Message, number>();

  async countMessages(messages: readonly Message[]): Promise<number> {
    let total = 0;
    const slices = new TimeSlices();
    for (const message of messages) {
      total += this.#known.get(message) ?? (await this.#countOne(message, slices));
      if (slices.isOver) await slices.pause();
    }
    return total;
  }

  async #countOne(message: Message, slices: TimeSlices): Promise<number> {
    const media =
      (message.parts ?? []).filter((part) => part.type === 'media').length + (message.imageUrls?.length ?? 0);
    const payload = message.toolPayload ? canonicalJson(messageToJson(message)['tool_payload']!) : '';
    const text = `${textOf(message)}${besideText(message)}${payload}`;
    const sealed = Math.ceil(sealedChars(message) / SEALED_CHARS_A_TOKEN);
    const counted = await countInSlices(text, slices);
    const tokens = counted + sealed + MESSAGE_OVERHEAD_TOKENS + media * MEDIA_TOKENS;
    this.#known.set(message, tokens);
    return tokens;
  }
}
