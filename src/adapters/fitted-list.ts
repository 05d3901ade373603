/**
 * Fits a list of another program's messages into a budget. What is unchanged comes out as the same objects, so no field
 * that only that program knows is lost.
 */
import { type ListBudget, ListFitter, type SentAlong } from '../memory/fit/list-fitter.js';
import { type Message, textOf } from '../messages/message.js';

/** A message, and the objects of the other program's list that it stands for. The same objects must give the same entry. */
export interface ListEntry<Source> {
  readonly message: Message;
  readonly sources: readonly Source[];
  /** Stays where it is, whatever is removed around it. */
  readonly isSystem: boolean;
}

/** How to write what a rung made. Pure. */
export interface ListWriter<Source> {
  /** The message that summarizes what left the list. */
  readonly memory: (text: string, list: readonly ListEntry<Source>[]) => Source;
  /** A copy of a tool result with this shorter content. */
  readonly result: (source: Source, shorter: Message) => Source;
}

/**
 * Other programs may have system messages anywhere. In a list of ours they open it, so each is represented by a pinned
 * message, which no rung changes or removes.
 */
export function systemEntry<Source>(message: Message, sources: readonly Source[]): ListEntry<Source> {
  const { kind: _, ...rest } = message;
  return { message: { ...rest, role: 'user', synthetic: true, pinned: true }, sources, isSystem: true };
}

export class FittedList<Source extends object> {
  readonly #fitter: ListFitter;
  readonly #write: ListWriter<Source>;
  /** What was written for a shorter message, so that two requests have the same object. */
  readonly #written = new WeakMap<Message, Source>();

  /** @throws INVALID_ARGUMENT */
  constructor(budget: ListBudget, write: ListWriter<Source>) {
    this.#fitter = new ListFitter(budget);
    this.#write = write;
  }

  /** The objects to send. @throws CONTEXT_TOO_LARGE */
  async fit(list: readonly ListEntry<Source>[], along: SentAlong): Promise<Source[]> {
    const firstOther = list.findIndex(({ isSystem }) => !isSystem);
    const head = list.slice(0, firstOther < 0 ? list.length : firstOther);
    const rest = list.slice(head.length);
    const sources = new Map(rest.map(({ message, sources: of }) => [message, of]));
    const said = [along.instructions ?? '', ...head.map(({ message }) => textOf(message))];
    const instructions = said.filter((text) => text !== '').join('\n');
    const messages = rest.map(({ message }) => message);
    const fitted = await this.#fitter.fit(messages, { ...along, instructions });
    const sent = fitted.flatMap((message) => sources.get(message) ?? [this.#made(message, rest, sources)]);
    return [...head.flatMap((entry) => entry.sources), ...sent];
  }

  #made(
    message: Message,
    list: readonly ListEntry<Source>[],
    sources: ReadonlyMap<Message, readonly Source[]>,
  ): Source {
    const known = this.#written.get(message);
    if (known) return known;
    const [source] = sources.get(this.#fitter.originalOf(message)) ?? [];
    const made = source ? this.#write.result(source, message) : this.#write.memory(textOf(message), list);
    this.#written.set(message, made);
    return made;
  }
}
