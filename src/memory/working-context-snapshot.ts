/**
 * The working context of one epoch: the list of messages that the model gets, and the calls that still lack a result.
 *
 * Append-only except for results: each goes to the block of its call, in call order, whenever it arrives. The lowest
 * changed index is tracked, so that the cache writes only what is new.
 */
import { toJsonValue } from '../core/to-json-value.js';
import { type Message, type ToolCallSpec, toolCallsOf, toolResultOf } from '../messages/message.js';

export interface OpenCall {
  readonly call: ToolCallSpec;
  readonly turnId: string | undefined;
  /** Index of the message that holds the call. */
  readonly messageIndex: number;
}

/** A read-only view of a context. Nothing is copied, so it changes when the context does. */
export type ContextView = Pick<WorkingContextSnapshot, 'messages' | 'changes'>;

export type ResultPlacement = 'placed' | 'replaced' | 'duplicate' | 'orphan';

/** The list of messages that the model gets, with the placement of results. */
export class WorkingContextSnapshot {
  epochId = 1;
  /** Seconds since 1970; null before the first compaction. */
  lastCompactionTs: number | null = null;
  #messages: Message[] = [];
  /** Calls without a result: id → indexes of their messages, oldest first. */
  #open = new Map<string, number[]>();
  #messageIds = new Set<string>();
  #firstChanged = 0;
  #changes = 0;

  constructor(initialMessages: Iterable<Message> = []) {
    this.#load([...initialMessages]);
    this.#firstChanged = 0;
  }

  get length(): number {
    return this.#messages.length;
  }

  /** The list itself; do not change it. Messages are immutable, the array is not. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Number of changes to existing messages. While it stays the same, the list only grew at its end. */
  get changes(): number {
    return this.#changes;
  }

  /** A copy of the list; the messages are shared. */
  buildMessages(): Message[] {
    return this.#messages.slice();
  }

  appendMessage(message: Message): void {
    const result = toolResultOf(message);
    if (result && this.#open.has(result.toolCallId)) {
      this.#place(message, result.toolCallId);
      return;
    }
    this.#messages.push(message);
    this.#noteId(message);
    for (const call of toolCallsOf(message)) this.#addOpen(call.id, this.#messages.length - 1);
  }

  hasMessageId(messageId: string): boolean {
    return this.#messageIds.has(messageId);
  }

  appendUser(content: string): void {
    this.appendMessage({ role: 'user', content });
  }

  appendAssistant(content: string | null, reasoning: string | null = null): void {
    this.appendMessage({
      role: 'assistant',
      content,
      ...(reasoning === null ? {} : { reasoningContent: reasoning }),
    });
  }

  appendToolCalls(toolCalls: readonly ToolCallSpec[]): void {
    this.appendMessage({ role: 'assistant', content: null, toolPayload: { toolCalls } });
  }

  /**
   * Adds the result of a call, and returns where it went.
   * @param toolResult any value; it is converted to JSON, as ingestion does (`toJsonValue`). Null is recorded with an error
   */
  appendToolResult(
    toolCallId: string,
    toolName: string,
    toolResult: unknown,
    toolError: string | null = null,
  ): ResultPlacement {
    const json = toolError === null ? toJsonValue(toolResult).value : null;
    return this.placeToolResult({
      role: 'tool',
      content: null,
      toolPayload: { toolCallId, toolName, toolResult: json, toolError },
    });
  }

  /** Adds a call to the earlier message at `index`. */
  addToolCall(index: number, call: ToolCallSpec): void {
    const message = this.#messages[index]!;
    this.#setAt(index, { ...message, toolPayload: { toolCalls: [...toolCallsOf(message), call] } });
    this.#addOpen(call.id, index);
  }

  /** Replaces a message by one with the same calls. */
  amendMessage(index: number, message: Message): void {
    this.#setAt(index, message);
  }

  /**
   * Adds a result to the call of its turn, else to another call with its id. A real result replaces a synthetic one; a
   * second real one is rejected.
   */
  placeToolResult(message: Message): ResultPlacement {
    const { toolCallId } = toolResultOf(message)!;
    const open = this.#open.get(toolCallId) ?? [];
    const inTurn = (index: number) => this.#messages[index]!.turnId === message.turnId;
    const own = open.some(inTurn) ? -1 : this.#lastInterrupted(toolCallId, message);
    if (open.length > 0 && (own < 0 || !inTurn(own))) {
      this.#place(message, toolCallId);
      return 'placed';
    }
    if (own >= 0) {
      this.#setAt(own, withName(message, toolResultOf(this.#messages[own]!)!.toolName));
      return 'replaced';
    }
    return this.#messages.some((other) => toolResultOf(other)?.toolCallId === toolCallId)
      ? 'duplicate'
      : 'orphan';
  }

  /** The synthetic result that a real one replaces: of its turn, else the newest, unless its turn has a real one. */
  #lastInterrupted(toolCallId: string, message: Message): number {
    if (message.synthetic) return -1;
    let newest = -1;
    for (let index = this.#messages.length - 1; index >= 0; index -= 1) {
      const other = this.#messages[index]!;
      if (toolResultOf(other)?.toolCallId !== toolCallId) continue;
      if (other.turnId === message.turnId) return other.synthetic ? index : -1;
      if (newest < 0 && other.synthetic) newest = index;
    }
    return newest;
  }

  openCalls(): OpenCall[] {
    const found: OpenCall[] = [];
    for (const [id, indexes] of this.#open) {
      for (const messageIndex of indexes) {
        const message = this.#messages[messageIndex]!;
        const call = toolCallsOf(message).find((candidate) => candidate.id === id);
        if (call) found.push({ call, turnId: message.turnId, messageIndex });
      }
    }
    return found.sort((a, b) => a.messageIndex - b.messageIndex);
  }

  get hasOpenCalls(): boolean {
    return this.#open.size > 0;
  }

  /** Starts a new epoch with these messages. `lastCompactionTs` in seconds; unchanged if omitted. */
  reset(messages: Iterable<Message>, lastCompactionTs?: number | null): void {
    this.epochId += 1;
    if (lastCompactionTs !== undefined) this.lastCompactionTs = lastCompactionTs;
    this.replaceAll(messages);
  }

  /** Replaces the messages within the same epoch. */
  replaceAll(messages: Iterable<Message>): void {
    const next = [...messages];
    let same = 0;
    while (same < next.length && next[same] === this.#messages[same]) same += 1;
    this.#load(next);
    this.#firstChanged = Math.min(this.#firstChanged, same);
  }

  /** The lowest index changed since the last `markSaved`; the length if messages were only appended. */
  get firstChanged(): number {
    return this.#firstChanged;
  }

  /** Marks everything up to the given length as saved in the cache. */
  markSaved(length: number): void {
    this.#firstChanged = length;
  }

  #load(messages: Message[]): void {
    this.#messages = messages;
    this.#changes += 1;
    this.#open = new Map();
    this.#messageIds = new Set();
    for (const [index, message] of messages.entries()) {
      this.#noteId(message);
      for (const call of toolCallsOf(message)) this.#addOpen(call.id, index);
      const result = toolResultOf(message);
      if (result) this.#closeOpen(result.toolCallId);
    }
  }

  #place(message: Message, toolCallId: string): void {
    const indexes = this.#open.get(toolCallId)!;
    const wanted = indexes.findLast((index) => this.#messages[index]!.turnId === message.turnId);
    const callIndex = wanted ?? indexes[indexes.length - 1]!;
    const position = this.#positionInBlock(callIndex, toolCallId);
    const call = toolCallsOf(this.#messages[callIndex]!).find(({ id }) => id === toolCallId);
    const named = withName(message, call?.name);
    this.#closeOpen(toolCallId, callIndex);
    if (position === this.#messages.length) {
      this.#messages.push(named);
      return;
    }
    this.#messages.splice(position, 0, named);
    this.#changes += 1;
    this.#firstChanged = Math.min(this.#firstChanged, position);
    for (const list of this.#open.values()) {
      for (const [at, index] of list.entries()) if (index >= position) list[at] = index + 1;
    }
  }

  #positionInBlock(callIndex: number, callId: string): number {
    const order = new Map(toolCallsOf(this.#messages[callIndex]!).map((call, index) => [call.id, index]));
    const own = order.get(callId) ?? 0;
    let position = callIndex + 1;
    for (; position < this.#messages.length; position += 1) {
      const other = toolResultOf(this.#messages[position]!);
      const place = other ? order.get(other.toolCallId) : undefined;
      if (place === undefined || place > own) break;
    }
    return position;
  }

  #noteId({ messageId }: Message): void {
    if (messageId !== undefined) this.#messageIds.add(messageId);
  }

  #setAt(index: number, message: Message): void {
    this.#noteId(message);
    this.#messages[index] = message;
    this.#changes += 1;
    this.#firstChanged = Math.min(this.#firstChanged, index);
  }

  /** In list order, even if an older response gets another call: a restored list is read in that order. */
  #addOpen(callId: string, index: number): void {
    const indexes = this.#open.get(callId);
    if (!indexes) this.#open.set(callId, [index]);
    else indexes.splice(indexes.findLastIndex((other) => other < index) + 1, 0, index);
  }

  #closeOpen(callId: string, callIndex?: number): void {
    const indexes = this.#open.get(callId);
    if (!indexes) return;
    const at = callIndex === undefined ? indexes.length - 1 : indexes.lastIndexOf(callIndex);
    indexes.splice(at, 1);
    if (indexes.length === 0) this.#open.delete(callId);
  }
}

/** True for a message to which a later call or text of the same response belongs. */
export function isResponse(message: Message | undefined, messageId: string | undefined): boolean {
  return message?.role === 'assistant' && messageId !== undefined && message.messageId === messageId;
}

/** A result has the name of its call (H11), whatever name its sender gives. */
function withName(message: Message, name: string | undefined): Message {
  const result = toolResultOf(message)!;
  return name === undefined || result.toolName === name
    ? message
    : { ...message, toolPayload: { ...result, toolName: name } };
}
