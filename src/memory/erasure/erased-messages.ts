/** Takes the messages of erased traces out of a list. The list stays legal: a call goes with its results. */
import { hash } from 'node:crypto';
import { mendMessage } from '../../messages/legality/history.js';
import {
  isBlankMessage,
  isToolCallPayload,
  type Message,
  textOf,
  toolCallsOf,
  toolResultOf,
} from '../../messages/message.js';
import { tryTraceFromJson } from '../models/trace-serializer.js';
import { recalledIn } from '../recall/context-passages.js';
import type { ErasedWords } from './erased-words.js';
import { keyOf, type Rows } from './part-traces.js';

/** In place of a result whose call stays. */
const RESULT_ERASED = 'The result was erased.';
/** Of a text that was trimmed: see `headAndTail`. */
const REF = /read_result\(\{"ref":"([0-9a-f]+)"\}\)/g;

interface Said {
  readonly role: Message['role'];
  readonly turnId: string;
  readonly text: string;
  readonly digest: string;
}

export class ErasedMessages {
  readonly #rows: Rows;
  readonly #turn: string | null;
  readonly #words: ErasedWords;
  readonly #answers = new Set<string>();
  readonly #calls = new Set<string>();
  readonly #said: Said[] = [];

  /** @param turn whose messages all go; null if only those of the rows go */
  constructor(rows: Rows, turn: string | null, words: ErasedWords) {
    this.#rows = rows;
    this.#turn = turn;
    this.#words = words;
    for (const row of rows.values()) {
      if (row['trace_type'] === 'assistant' && typeof row['message_id'] === 'string')
        this.#answers.add(keyOf(row, 'message_id'));
      if (typeof row['tool_call_id'] === 'string') this.#calls.add(keyOf(row, 'tool_call_id'));
      const trace = tryTraceFromJson(row);
      if (trace?.type !== 'user' && trace?.type !== 'assistant') continue;
      const message = mendMessage(trace.message, () => {});
      if (!message || isBlankMessage(message)) continue;
      const text = textOf(message);
      this.#said.push({
        role: message.role,
        turnId: trace.turnId,
        text,
        digest: hash('sha256', text, 'hex'),
      });
    }
  }

  /** True if one of the messages would go, or would change. */
  isIn(messages: readonly Message[]): boolean {
    const left = this.without(messages);
    return left.length !== messages.length || left.some((message, index) => message !== messages[index]);
  }

  /** Keeps the memory message: the caller rebuilds it from the facts and summaries that stay. */
  without(messages: readonly Message[]): Message[] {
    const left: Message[] = [];
    const gone = new Set<string>();
    for (const message of messages) {
      const id = toolResultOf(message)?.toolCallId;
      if (id !== undefined) {
        if (gone.has(id)) continue;
        left.push(this.#isGone(message) ? withoutResult(message) : message);
        continue;
      }
      const own = this.#isGone(message) ? null : this.#withoutCalls(message);
      const stay = new Set(own ? toolCallsOf(own).map((call) => call.id) : []);
      for (const call of toolCallsOf(message))
        if (stay.has(call.id)) gone.delete(call.id);
        else gone.add(call.id);
      if (own) left.push(own);
    }
    return left;
  }

  /** Null if nothing is left. */
  #withoutCalls(message: Message): Message | null {
    const calls = toolCallsOf(message);
    const stay = calls.filter(({ id }) => !this.#calls.has(`${message.turnId ?? ''}\u0000${id}`));
    if (stay.length === calls.length || !isToolCallPayload(message.toolPayload)) return message;
    const { toolPayload, ...rest } = message;
    const left = stay.length === 0 ? rest : { ...rest, toolPayload: { ...toolPayload, toolCalls: stay } };
    return isBlankMessage(left) ? null : left;
  }

  #isGone(message: Message): boolean {
    if (message.role === 'system' || message.kind === 'memory') return false;
    if (this.#turn !== null && message.turnId === this.#turn) return true;
    if (message.kind === 'recall')
      return recalledIn(message).some((key) => this.#rows.has(Number.parseInt(key, 10)));
    const turn = message.turnId ?? '';
    const result = toolResultOf(message);
    if (result) return this.#calls.has(`${turn}\u0000${result.toolCallId}`);
    if (message.messageId !== undefined && this.#answers.has(`${turn}\u0000${message.messageId}`))
      return true;
    if (message.messageId !== undefined && message.turnId !== undefined) return false;
    const text = textOf(message);
    const refs = [...text.matchAll(REF)].map(([, ref]) => ref!);
    const isSame = ({ role, turnId, text: said, digest }: Said) =>
      role === message.role &&
      (message.turnId === undefined || turnId === message.turnId) &&
      (said === text || refs.some((ref) => digest.startsWith(ref)));
    return this.#said.some(isSame) || (message.turnId === undefined && this.#words.isIn(text));
  }
}

function withoutResult(message: Message): Message {
  const { parts, ...rest } = message;
  const { toolCallId, toolName } = toolResultOf(message)!;
  const toolPayload = { toolCallId, toolName, toolResult: RESULT_ERASED, toolError: null };
  return { ...rest, toolPayload, synthetic: true };
}
