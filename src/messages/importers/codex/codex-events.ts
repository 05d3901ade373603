/**
 * Events of a Codex rollout that repeat items. An event is held until its item comes, before or after it. If no item
 * comes, the event is all that is known of the message.
 */
import type { LossAccount } from '../loss-account.js';

export interface EventText {
  readonly text: string;
  readonly place: string;
  readonly ts: number | undefined;
}

/** Texts of items that an event may still repeat. */
const SAID_MAX = 32;
const WAITING_MAX = 256;

export class EventEchoes {
  readonly #losses: LossAccount;
  #said: string[] = [];
  #waiting: EventText[] = [];

  constructor(losses: LossAccount) {
    this.#losses = losses;
  }

  /** Whether an item said anything in this turn. */
  get hasItems(): boolean {
    return this.#said.length > 0;
  }

  /** The limit is reached: no item will come for the waiting events. */
  get isFull(): boolean {
    return this.#waiting.length >= WAITING_MAX;
  }

  event(event: EventText): void {
    if (this.#said.some((said) => repeats(event.text, said))) this.#repeated(event);
    else this.#waiting.push(event);
    if (this.#waiting.length <= WAITING_MAX) return;
    this.#waiting.shift();
    this.#losses.drop('event without an item', event.place);
  }

  item(text: string): void {
    this.#said.push(text);
    if (this.#said.length > SAID_MAX) this.#said.shift();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const event of waiting) {
      if (repeats(event.text, text)) this.#repeated(event);
      else this.#waiting.push(event);
    }
  }

  /** The events that no item repeated. */
  takeWaiting(): readonly EventText[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  /** A new turn starts, in which the same words may be said again. */
  forget(): void {
    this.#said = [];
  }

  #repeated({ place }: EventText): void {
    this.#losses.drop('event that repeats an item', place);
  }
}

/** A shorter text is often part of another one, so it must match whole lines. */
const LONG = 24;

/** The item has the whole text; the event may have only part of it. */
function repeats(event: string, item: string): boolean {
  const text = event.trim();
  if (text.length >= LONG && item.includes(text)) return true;
  return `\n${item.trim()}\n`.includes(`\n${text}\n`);
}
