/** The passages that the context already contains, which need not be recalled. Tracked by looking only at new messages. */
import { isJsonObject } from '../../core/json.js';
import { type Message, resultText, textOf, toolCallsOf, toolResultOf } from '../../messages/message.js';
import { hasOnlyGrown, NOTHING_SEEN, seenOf, unseen } from '../seen-context.js';
import type { ContextView } from '../working-context-snapshot.js';
import { callText, type Passage, splitText } from './passage.js';

export class ContextPassages {
  readonly #texts = new Set<string>();
  readonly #recalled = new Set<string>();
  #seen = NOTHING_SEEN;

  update(context: ContextView): void {
    if (!hasOnlyGrown(this.#seen, context)) {
      this.#texts.clear();
      this.#recalled.clear();
    }
    for (const message of unseen(this.#seen, context)) this.#add(message);
    this.#seen = seenOf(context);
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

/** The ids of recalled passages, from a field that no provider gets: `<record>/<piece>` of each. */
export function recalledIn({ kind, extra }: Message): string[] {
  const recall = kind === 'recall' ? extra?.['recall'] : undefined;
  const passages = isJsonObject(recall) ? recall['passages'] : undefined;
  return Array.isArray(passages) ? passages.filter((key) => typeof key === 'string') : [];
}
