/**
 * Finds the recorded responses that a host's list contains again. They are matched by content, not by
 * position: some SDKs hand over the whole turn, others only its last step.
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
  /** Its id in the traces. */
  readonly messageId: string | undefined;
  readonly message: Message;
  /** By call id. */
  readonly results: ReadonlyMap<string, Message>;
}

/**
 * A turn's messages as a host knows them: including those that left the context, and in full where the
 * context has a shorter form.
 */
export class WholeTurn {
  #whole: readonly Message[] = [];
  /** Message in the context → the full message that it was made from. */
  readonly #madeFrom = new WeakMap<Message, Message>();

  /**
   * @param before the result of `of` before the context shrank @param now the messages in the context since
   * then
   */
  keep(before: readonly Message[], now: readonly Message[]): void {
    const current = byKey(now);
    for (const message of before) {
      const smaller = current.get(keyOf(message));
      if (smaller && smaller !== message) this.#madeFrom.set(smaller, message);
    }
    this.#whole = before;
  }

  /** @param now the messages in the context */
  of(now: readonly Message[]): readonly Message[] {
    if (this.#whole.length === 0) return now;
    const current = byKey(now);
    const known = new Set(this.#whole.map(keyOf));
    const whole = this.#whole.map((message) => {
      const newer = current.get(keyOf(message));
      return newer && this.#madeFrom.get(newer) !== message ? newer : message; // calls were added to it
    });
    return [...whole, ...now.filter((message) => !known.has(keyOf(message)))];
  }
}

function byKey(messages: readonly Message[]): Map<string, Message> {
  return new Map(messages.map((message) => [keyOf(message), message]));
}

/** A synthetic result and the real one after it are two messages. */
function keyOf(message: Message): string {
  const result = toolResultOf(message);
  if (result) return `result ${message.synthetic === true} ${result.toolCallId}`;
  return `${message.role} ${message.messageId ?? canonicalJson(messageToJson(message))}`;
}

/** @param messages of the turn, as they are in the context */
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
   * @param isTold whether an earlier list contained this response
   * @param givenIdOf the id that the response gave to a call that is recorded under another id
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
   * For each response of a list, the recorded response that it is; null for a new one. A list is a stretch of
   * the turn. The longest match wins; among equals, a response that no list has contained yet, then the
   * latest.
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

  /** For a list that leaves out responses: each is searched after the one before it. */
  #matchApart(told: readonly ToldResponse[]): (RecordedResponse | null)[] {
    let next = 0;
    return told.map((response) => {
      const at = this.#recorded.findIndex((own, index) => index >= next && this.#isSame(own, response));
      if (at < 0) return null;
      next = at + 1;
      return this.#recorded[at]!;
    });
  }

  /** Maps each call to its recorded call. Compares arguments first, because two calls may share one id. */
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
      return textOf(told.message) !== '' && said(recorded.message) === said(told.message); // its calls follow later
    }
    const calls = this.calls(recorded, told);
    if (calls.size === 0) return false;
    if (!this.#isKnown(recorded)) return true;
    // An earlier list contained it: it is the same response unless something contradicts that. One without
    // results may have grown.
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

/** Whether `freeId` derived this id. */
function isMadeFrom(own: string, given: string): boolean {
  const base = `${given === '' ? 'call' : given}_`;
  return own.startsWith(base) && /^\d+$/.test(own.slice(base.length));
}

/** With two calls of one id, some SDKs report the arguments of the first call twice. */
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

/** The text, without ids. */
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

/** Only calls: a guarded tool recorded them before their response was known. */
export function isSilent(message: Message): boolean {
  const { toolPayload: _, ...rest } = message;
  return isBlankMessage(rest) && !message.reasoning?.length && message.reasoningContent === undefined;
}
