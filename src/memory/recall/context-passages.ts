/** What the context holds already, as passages: it need not come back. Kept up to date by looking only at messages that are new. */
import { isJsonObject } from '../../core/json.js';
import { type Message, resultText, textOf, toolCallsOf, toolResultOf } from '../../messages/message.js';
import { hasGrownFrom, type SeenMessages } from '../seen-messages.js';
import { callText, type Passage, splitText } from './passage.js';

const NOTHING_SEEN: SeenMessages = { count: 0, last: undefined };

export class ContextPassages {
  readonly #texts = new Set<string>();
  readonly #recalled = new Set<string>();
  #seen: SeenMessages = NOTHING_SEEN;

  /** After messages changed at their places. */
  reset(): void {
    this.#texts.clear();
    this.#recalled.clear();
    this.#seen = NOTHING_SEEN;
  }

  update(messages: readonly Message[]): void {
    if (!hasGrownFrom(this.#seen, messages)) this.reset();
    for (const message of messages.slice(this.#seen.count)) this.#add(message);
    this.#seen = { count: messages.length, last: messages.at(-1) };
  }

  has({ seq, piece, text }: Passage): boolean {
    return this.#texts.has(text) || this.#recalled.has(`${seq}/${piece}`);
  }

  #add(message: Message): void {
    for (const key of recalledIn(message)) this.#recalled.add(key);
    const result = toolResultOf(message);
    const texts = [result ? resultText(result) : textOf(message), ...toolCallsOf(message).map(callText)];
    for (const text of texts.flatMap(splitText)) this.#texts.add(text);
  }
}

/** What a recall names in a field that no provider gets: `<record>/<piece>` of each passage. */
export function recalledIn({ kind, extra }: Message): string[] {
  const recall = kind === 'recall' ? extra?.['recall'] : undefined;
  const passages = isJsonObject(recall) ? recall['passages'] : undefined;
  return Array.isArray(passages) ? passages.filter((key) => typeof key === 'string') : [];
}
