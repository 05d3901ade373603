/**
 * Joins the calls of one response that were recorded as several messages. Providers that match calls with results per
 * turn reject them otherwise, and the model would learn to make one call at a time.
 *
 * Two neighbours are one response if the second has only calls, no id contradicts it, and the results of both follow
 * directly. Later messages are ignored, so that an import can decide the same without having read the rest.
 */
import {
  hasMedia,
  isBlankText,
  type Message,
  type ProviderItem,
  type ToolCallSpec,
  textOf,
  toolCallsOf,
} from '../message.js';
import type { Pairing, Slot } from './pairing.js';
import type { Repair } from './repairs.js';
import { DraftBuilder, type DraftHistory, originOf } from './rule.js';

export function mergeSplitCalls(draft: DraftHistory, found: Pairing, repairs: Repair[]): DraftHistory {
  const responses: Response[] = [];
  const ends = batchEnds(draft.messages);
  for (const [index, message] of draft.messages.entries()) {
    const last = responses[responses.length - 1];
    if (last && isSecondHalf(draft.messages, index, found, ends[index]!) && last.takes(message)) {
      last.join(message);
      const reason = 'calls of one response were two messages';
      repairs.push({ code: 'merge-assistant', messageIndex: originOf(draft, index), reason });
    } else responses.push(new Response(message, index));
  }
  if (responses.length === draft.messages.length) return draft;
  const builder = new DraftBuilder(draft);
  for (const response of responses) builder.add(response.message(), response.index);
  return builder.build();
}

/** A message and those joined to it. Takes time proportional to the number of calls. */
class Response {
  readonly #first: Message;
  readonly #calls: ToolCallSpec[];
  readonly #items: ProviderItem[];
  #ids: Set<string> | null = null;
  #messageId: string | undefined;
  #joined = false;

  constructor(
    first: Message,
    readonly index: number,
  ) {
    this.#first = first;
    this.#calls = [...toolCallsOf(first)];
    this.#items = [...(first.providerItems ?? [])];
    this.#messageId = first.messageId;
  }

  takes(message: Message): boolean {
    this.#ids ??= new Set(this.#calls.map((call) => call.id));
    if (toolCallsOf(message).some((call) => this.#ids?.has(call.id))) return false;
    return isSame(this.#messageId, message.messageId) && isSame(this.#first.turnId, message.turnId);
  }

  join(message: Message): void {
    this.#joined = true;
    this.#messageId ??= message.messageId;
    for (const item of message.providerItems ?? []) this.#items.push(item);
    for (const call of toolCallsOf(message)) {
      this.#calls.push(call);
      this.#ids?.add(call.id);
    }
  }

  message(): Message {
    if (!this.#joined) return this.#first;
    const items = this.#items.length > 0 ? { providerItems: this.#items } : {};
    return { ...this.#first, toolPayload: { toolCalls: this.#calls }, ...items };
  }
}

/** A missing value matches any value. */
function isSame(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a === b;
}

/** For each message with calls: the end of the results after it and after the calls that directly follow it. */
function batchEnds(messages: readonly Message[]): number[] {
  const ends: number[] = [];
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const next = messages[index + 1];
    const goesOn = next && (toolCallsOf(next).length > 0 || next.role === 'tool');
    const isLast = messages[index]!.role === 'tool' && next?.role !== 'tool';
    ends[index] = goesOn && !isLast ? ends[index + 1]! : index + 1;
  }
  return ends;
}

function isSecondHalf(messages: readonly Message[], index: number, found: Pairing, end: number): boolean {
  const first = messages[index - 1];
  const second = messages[index]!;
  if (first?.role !== 'assistant' || second.role !== 'assistant' || !isBare(second)) return false;
  const slots = found.blocks.get(index - 1) ?? [];
  const isAnswered = ({ resultIndex }: Slot) => resultIndex > index && resultIndex < end;
  const own = found.blocks.get(index) ?? [];
  return slots.length > 0 && slots.every(isAnswered) && own.some(isAnswered);
}

function isBare(message: Message): boolean {
  const silent = isBlankText(textOf(message)) && !hasMedia(message);
  return silent && !message.reasoning && message.reasoningContent === undefined;
}
