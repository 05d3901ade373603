/** Joins the items of a run: the items of one model response form one message; each result is a message. */
import type { JsonObject } from '../../../core/json.js';
import type { ContentPart, Message, Origin, ProviderItem, ToolCallSpec } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { assistantContentOf } from '../reading/content-parts.js';
import { OpenCalls } from '../reading/open-calls.js';
import { type AgentsPiece, agentsPieceOf, callIdOf, identityOf } from './agents-item.js';

export class AgentsConversation {
  readonly #losses: LossAccount;
  /** Id of a response, by the identity of its first item. Removed when the response starts. */
  readonly #responses: Map<string, string | undefined>;
  readonly #calls = new OpenCalls();
  /** Calls that wait for approval, with the place in the source that says so. */
  readonly #waiting = new Map<string, string>();
  #parts: ContentPart[] = [];
  #toolCalls: ToolCallSpec[] = [];
  /** Number of parts before the last call. */
  #partsOfCalls = 0;
  #items: ProviderItem[] = [];
  #messageId: string | undefined;
  #isOfResponse = false;
  /** Origin of the answers that follow, if known. */
  origin: Origin | undefined;

  constructor(responses: Map<string, string | undefined>, losses: LossAccount) {
    this.#responses = responses;
    this.#losses = losses;
  }

  *add(item: JsonObject, place: string): Generator<Message> {
    const piece = agentsPieceOf(item, place, this.#losses);
    if (!piece) return;
    if (piece.kind === 'message' || piece.kind === 'result') {
      yield* this.end();
      yield piece.kind === 'message' ? piece.message : this.#result(piece);
      return;
    }
    yield* this.#begin(item, piece);
    if (piece.kind === 'call') {
      this.#toolCalls.push(piece.call);
      this.#partsOfCalls = this.#parts.length;
    } else if (piece.kind === 'hosted') {
      this.#items.push(piece.item);
      this.#parts.push(...piece.shown);
    } else this.#parts.push(...piece.parts);
  }

  /** The incomplete message. */
  *end(): Generator<Message> {
    const hasContent = this.#parts.length > 0 || this.#toolCalls.length > 0 || this.#items.length > 0;
    if (!hasContent) return;
    const message: Message = {
      role: 'assistant',
      ...assistantContentOf(this.#parts),
      ...(this.#toolCalls.length > 0 ? { toolPayload: { toolCalls: this.#toolCalls } } : {}),
      ...(this.#items.length > 0 ? { providerItems: this.#items } : {}),
      ...(this.origin ? { origin: this.origin } : {}),
      ...(this.#messageId === undefined ? {} : { messageId: this.#messageId }),
    };
    [this.#parts, this.#toolCalls, this.#items] = [[], [], []];
    this.#partsOfCalls = 0;
    this.#messageId = undefined;
    this.#isOfResponse = false;
    this.#calls.called(message);
    yield message;
  }

  /** A request for approval follows its call. */
  waits(item: JsonObject, place: string): void {
    const id = callIdOf(item);
    if (this.#isOpen(id)) this.#waiting.set(id, place);
    else this.#losses.drop('an approval asked for inside the run of a tool', place);
  }

  accountForWaiting(): void {
    for (const place of this.#waiting.values())
      this.#losses.approximate('a call that waits for approval', place);
  }

  #isOpen(id: string): boolean {
    return this.#calls.has(id) || this.#toolCalls.some((call) => call.id === id);
  }

  /** A new answer starts with the first item of a response or, if no response is known, with each text. */
  *#begin(item: JsonObject, piece: AgentsPiece): Generator<Message> {
    const identity = identityOf(item);
    const isFirst = this.#responses.has(identity);
    const hasText = this.#parts.some((part) => part.type !== 'reasoning');
    const isNextText = !isFirst && piece.kind === 'said' && hasText && !this.#isOfResponse;
    const before = isNextText ? this.#takeLastReasoning() : [];
    if (isFirst || isNextText) yield* this.end();
    this.#parts.push(...before);
    if (!isFirst) return;
    this.#messageId = this.#responses.get(identity);
    this.#isOfResponse = true;
    this.#responses.delete(identity);
  }

  /** Reasoning after a text led to the next one, unless it led to a call. */
  #takeLastReasoning(): ContentPart[] {
    const end = this.#parts.findLastIndex((part) => part.type !== 'reasoning') + 1;
    return this.#parts.splice(Math.max(end, this.#partsOfCalls));
  }

  #result({ id, name, parts }: Extract<AgentsPiece, { kind: 'result' }>): Message {
    const called = this.#calls.answered(id);
    this.#waiting.delete(id);
    return {
      role: 'tool',
      content: null,
      toolPayload: {
        toolCallId: id,
        toolName: called === '' ? name : called,
        toolResult: parts.result,
        toolError: null,
      },
      ...(parts.media.length > 0 ? { parts: parts.media } : {}),
    };
  }
}
