/**
 * The responses that a turn has recorded, and which of them a host's list tells of again. They are found by what they hold, and
 * not by their number: some SDKs hand over the whole turn, others its last step.
 */
import { canonicalJson } from '../../core/canonical-json.js';
import { standsFor } from '../../memory/fit/store-apart.js';
import {
  isBlankMessage,
  isBlankText,
  type Message,
  mediaOf,
  partsOf,
  type ToolCallSpec,
  textOf,
  toolCallsOf,
  toolResultOf,
} from '../../messages/message.js';
import { messageToJson } from '../../messages/message-serializer.js';
import type { ToldCall, ToldResponse } from './told-responses.js';

export interface RecordedResponse {
  /** What the traces call it. */
  readonly messageId: string | undefined;
  readonly message: Message;
  /** By the id of their call. */
  readonly results: ReadonlyMap<string, Message>;
}

/** A turn's messages as a host knows them: with those that have left the context, and whole where the context has them smaller. */
export class WholeTurn {
  #whole: readonly Message[] = [];
  /** What stands in the context → the whole message that it was made from. */
  readonly #madeFrom = new WeakMap<Message, Message>();

  /** @param before as `of` gave them before the context was made smaller @param now as they stand in it since */
  keep(before: readonly Message[], now: readonly Message[]): void {
    const current = byKey(now);
    for (const message of before) {
      const smaller = current.get(keyOf(message));
      if (smaller && smaller !== message) this.#madeFrom.set(smaller, message);
    }
    this.#whole = before;
  }

  /** @param now as they stand in the context */
  of(now: readonly Message[]): readonly Message[] {
    if (this.#whole.length === 0) return now;
    const current = byKey(now);
    const known = new Set(this.#whole.map(keyOf));
    const whole = this.#whole.map((message) => {
      const newer = current.get(keyOf(message));
      return newer && this.#madeFrom.get(newer) !== message ? newer : message; // calls have joined it
    });
    return [...whole, ...now.filter((message) => !known.has(keyOf(message)))];
  }
}

function byKey(messages: readonly Message[]): Map<string, Message> {
  return new Map(messages.map((message) => [keyOf(message), message]));
}

/** A synthetic result and the real one that follows it are two. */
function keyOf(message: Message): string {
  const result = toolResultOf(message);
  if (result) return `result ${message.synthetic === true} ${result.toolCallId}`;
  return `${message.role} ${message.messageId ?? canonicalJson(messageToJson(message))}`;
}

/** @param messages of the turn, as they stand in the context */
export function recordedResponses(messages: readonly Message[]): RecordedResponse[] {
  const found: { message: Message; results: Map<string, Message> }[] = [];
  for (const message of messages) {
    const result = toolResultOf(message);
    if (result) responseOf(found, result.toolCallId)?.results.set(result.toolCallId, message);
    else if (message.role === 'assistant') found.push({ message, results: new Map() });
  }
  return found.map((one) => ({ ...one, messageId: one.message.messageId }));
}

function responseOf<R extends { readonly message: Message }>(
  found: readonly R[],
  callId: string,
): R | undefined {
  const hasCall = ({ message }: R) => toolCallsOf(message).some(({ id }) => id === callId);
  return found.findLast(hasCall) ?? found.at(-1);
}

export class ResponseMatcher {
  readonly #recorded: readonly RecordedResponse[];
  readonly #isTold: (messageId: string) => boolean;
  readonly #givenIdOf: (id: string) => string | undefined;
  /**
   * @param isTold whether a list has told of this response before
   * @param givenIdOf what the response called a call that is recorded under an id of its own
   */
  constructor(
    recorded: readonly RecordedResponse[],
    isTold: (messageId: string) => boolean,
    givenIdOf: (id: string) => string | undefined,
  ) {
    this.#recorded = recorded;
    this.#isTold = isTold;
    this.#givenIdOf = givenIdOf;
  }

  /**
   * For each response of a list the recorded one that it is; null for a new one. A list is a stretch of the turn: the one that
   * agrees longest counts, and of equals the one that no list has told of, then the latest.
   */
  match(told: readonly ToldResponse[]): (RecordedResponse | null)[] {
    let best = { start: this.#recorded.length, length: 0, untold: 0 };
    for (let start = 0; start < this.#recorded.length; start += 1) {
      const stretch = this.#recorded.slice(start, start + told.length);
      if (!stretch.every((recorded, index) => this.#isSame(recorded, told[index]!))) continue;
      const untold = stretch.filter((recorded) => !this.#isKnown(recorded)).length;
      const isBetter =
        stretch.length > best.length || (stretch.length === best.length && untold >= best.untold);
      if (isBetter) best = { start, length: stretch.length, untold };
    }
    if (best.length === 0) return this.#matchApart(told);
    return told.map((_, index) => this.#recorded[best.start + index] ?? null);
  }

  /** A list that leaves responses out: each is looked for behind the one before it. */
  #matchApart(told: readonly ToldResponse[]): (RecordedResponse | null)[] {
    let next = 0;
    return told.map((response) => {
      const at = this.#recorded.findIndex((own, index) => index >= next && this.#isSame(own, response));
      if (at < 0) return null;
      next = at + 1;
      return this.#recorded[at]!;
    });
  }

  /** Each call's own in the recorded response: by its arguments first, because one id may stand for two. */
  calls(recorded: RecordedResponse, told: ToldResponse): Map<ToldCall, ToolCallSpec> {
    const free = new Set(toolCallsOf(recorded.message));
    const found = new Map<ToldCall, ToolCallSpec>();
    for (const isFitting of [sameArguments, () => true]) {
      for (const call of told.calls) {
        if (found.has(call)) continue;
        const own = [...free].find((spec) => this.#isSameCall(spec, call) && isFitting(spec, call.spec));
        if (!own) continue;
        free.delete(own);
        found.set(call, own);
      }
    }
    return found;
  }

  #isSame(recorded: RecordedResponse, told: ToldResponse): boolean {
    if (told.calls.length === 0) {
      return toolCallsOf(recorded.message).length === 0 && said(recorded.message) === said(told.message);
    }
    if (toolCallsOf(recorded.message).length === 0) {
      return textOf(told.message) !== '' && said(recorded.message) === said(told.message); // its calls come now
    }
    const calls = this.calls(recorded, told);
    if (calls.size === 0) return false;
    if (!this.#isKnown(recorded)) return true;
    // Told before: it is the same response only if nothing speaks against it. One without results may have grown.
    const own = toolCallsOf(recorded.message).length;
    const isWhole = calls.size === own && (told.calls.length === own || recorded.results.size === 0);
    if (!isWhole || said(recorded.message) !== said(told.message)) return false;
    return [...calls].every(
      ([call, own]) =>
        (sameArguments(own, call.spec) || hasTwin(call, told)) &&
        sameResult(recorded.results.get(own.id), call),
    );
  }

  #isKnown({ messageId }: RecordedResponse): boolean {
    return messageId === undefined || this.#isTold(messageId);
  }

  #isSameCall(own: ToolCallSpec, { spec, given }: ToldCall): boolean {
    if (own.name !== spec.name) return false;
    if (own.id === spec.id || (this.#givenIdOf(own.id) ?? own.id) === given) return true;
    return isMadeFrom(own.id, given) && sameArguments(own, spec);
  }
}

/** As `freeId` makes it. */
function isMadeFrom(own: string, given: string): boolean {
  const base = `${given === '' ? 'call' : given}_`;
  return own.startsWith(base) && /^\d+$/.test(own.slice(base.length));
}

/** Of two calls with one id some SDKs tell the arguments of the first twice. */
function hasTwin({ given }: ToldCall, told: ToldResponse): boolean {
  return told.calls.filter((call) => call.given === given).length > 1;
}

function sameArguments(a: ToolCallSpec, b: ToolCallSpec): boolean {
  return canonicalJson(a.arguments) === canonicalJson(b.arguments);
}

function sameResult(recorded: Message | undefined, { result }: ToldCall): boolean {
  const known = recorded && !recorded.synthetic ? toolResultOf(recorded) : null;
  if (!known || !result || known.toolError !== null || result.payload.toolError !== null) return true;
  const isEqual = canonicalJson(known.toolResult) === canonicalJson(result.payload.toolResult);
  return isEqual || standsFor(known, result.payload);
}

/** What was said, whoever tells of it. */
function said(message: Message): string {
  const reasoning = [
    ...(message.reasoning ?? []),
    ...partsOf(message).flatMap((part) => (part.type === 'reasoning' ? [part.reasoning] : [])),
  ].map(({ text, encrypted }) => text ?? encrypted ?? '');
  const media = mediaOf(message).map(({ ref }) => ref);
  const texts = [textOf(message), ...reasoning, message.reasoningContent ?? ''].map((text) =>
    text.toWellFormed(),
  );
  return canonicalJson([texts.filter((text) => !isBlankText(text)), media]);
}

/** Nothing but calls: a guarded tool recorded them before its response was known. */
export function isSilent(message: Message): boolean {
  const { toolPayload: _, ...rest } = message;
  return isBlankMessage(rest) && !message.reasoning?.length && message.reasoningContent === undefined;
}
