/**
 * Prompts typed during a turn wait in a queue. A prompt that leaves the queue in the middle of a turn was shown to the
 * model then. Older versions recorded it only in the queue's own records.
 */
import type { JsonObject } from '../../../core/json.js';
import { textField } from '../reading/record-fields.js';
import { promptTextsOf } from './claude-code-record.js';

const WAITING_MAX = 1000;

export interface QueuedPrompt {
  readonly text: string;
  /** Byte range of the record that added it to the queue. */
  readonly start: number;
  readonly end: number;
  readonly line: number;
}

export class PromptQueue {
  readonly #waiting: QueuedPrompt[] = [];
  /** Texts that left the queue, with the index entry that represents each. */
  readonly #delivered = new Map<string, number>();

  /** The prompt that this operation delivered in the middle of a turn, if any. */
  apply(record: JsonObject, place: Omit<QueuedPrompt, 'text'>): QueuedPrompt | undefined {
    const content = textField(record, 'content');
    const operation = record['operation'];
    if (operation === 'enqueue' && content !== undefined) {
      this.#waiting.push({ text: content, ...place });
      if (this.#waiting.length > WAITING_MAX) this.#waiting.shift();
    } else if (operation === 'dequeue') this.#take(content);
    else if (operation === 'popAll') this.#waiting.length = 0;
    else if (operation === 'remove') {
      const taken = this.#take(content);
      return taken && isForTheModel(taken.text) ? taken : undefined;
    }
    return undefined;
  }

  /** Remembers the index entry of the text until a record of the conversation holds it. */
  delivered(text: string, entry: number): void {
    this.#delivered.set(text, entry);
  }

  /** Index entries that a record of the conversation makes redundant. */
  said(record: JsonObject): number[] {
    if (this.#waiting.length === 0 && this.#delivered.size === 0) return [];
    const entries: number[] = [];
    for (const text of promptTextsOf(record)) {
      const entry = this.#delivered.get(text);
      if (entry !== undefined) entries.push(entry);
      this.#delivered.delete(text);
      const waiting = this.#waiting.findIndex((prompt) => prompt.text === text);
      if (waiting >= 0) this.#waiting.splice(waiting, 1);
    }
    return entries;
  }

  #take(content: string | undefined): QueuedPrompt | undefined {
    if (content === undefined) return this.#waiting.shift();
    const at = this.#waiting.findIndex((prompt) => prompt.text === content);
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0];
  }
}

/** The tool itself executes commands. */
function isForTheModel(text: string): boolean {
  return text.trim() !== '' && !text.trimStart().startsWith('/');
}
