/**
 * Joins items of the Responses API: reasoning, texts and calls up to the first output form one answer. Used both for
 * the items of a rollout and for the history that a compaction left.
 */

import type { JsonObject, JsonValue } from '../../../core/json.js';
import type { ContentPart, Message, Origin, ProviderItem, ToolCallSpec } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { assistantContentOf, contentOf } from '../reading/content-parts.js';
import { jsonTextOf } from '../reading/json-text.js';
import { OpenCalls } from '../reading/open-calls.js';
import { idText, textField } from '../reading/record-fields.js';
import { codexCallOf, isCodexCall, isCodexOutput } from './codex-calls.js';
import { codexOutputOf, codexPartsOf, codexReasoningOf } from './codex-content.js';

/** Items that the provider runs or makes; only the provider can use them. */
const PROVIDER_ITEMS: ReadonlySet<JsonValue | undefined> = new Set([
  'web_search_call',
  'file_search_call',
  'image_generation_call',
  'code_interpreter_call',
  'tool_search_call',
  'tool_search_output',
  'compaction',
  'compaction_summary',
  'context_compaction',
]);

/** Maximum number of parts and calls of one answer. A larger one is not a real answer and would not fit in memory. */
const ANSWER_MAX = 4096;

interface Answer {
  readonly parts: ContentPart[];
  readonly calls: ToolCallSpec[];
  readonly items: ProviderItem[];
  readonly origin: Origin;
  readonly ts: number | undefined;
}

/** The role of an item in the conversation; null if it is not part of it. */
export type CodexRole = 'user' | 'system' | 'answer' | 'output' | null;

export class CodexConversation {
  readonly #losses: LossAccount;
  readonly #emit: (message: Message, ts: number | undefined) => void;
  readonly #open = new OpenCalls();
  #answer: Answer | undefined;
  /** Origin of the answers that follow. */
  origin: Origin = { provider: 'openai' };
  /** The turn was aborted: an answer without output was cut off. */
  isAborted = false;

  constructor(losses: LossAccount, emit: (message: Message, ts: number | undefined) => void) {
    this.#losses = losses;
    this.#emit = emit;
  }

  add(item: JsonObject, place: string, ts?: number): void {
    const role = roleOf(item);
    if (role === 'answer') this.#addToAnswer(item, place, ts);
    else if (role === 'output') {
      this.#endAnswer();
      this.#emit(this.#resultOf(item, place), ts);
    } else if (role !== null) {
      this.endAnswer();
      this.#emit({ role, ...contentOf(partsOfMessage(item, this.#losses, place)) }, ts);
    } else {
      const isSnapshot = item['type'] === 'ghost_snapshot';
      this.#losses.drop(isSnapshot ? 'snapshot of files' : 'item of an unknown type', place);
    }
  }

  /** At the end of a turn: open calls get no more results. */
  endAnswer(): void {
    this.#endAnswer(this.isAborted ? { status: 'aborted' } : {});
  }

  #endAnswer(status: Pick<Message, 'status'> = {}): void {
    if (!this.#answer) return;
    const { parts, calls, items, origin, ts } = this.#answer;
    this.#answer = undefined;
    const message: Message = {
      role: 'assistant',
      ...assistantContentOf(parts),
      ...(calls.length > 0 ? { toolPayload: { toolCalls: calls } } : {}),
      ...(items.length > 0 ? { providerItems: items } : {}),
      origin,
      ...status,
    };
    this.#open.called(message);
    this.#emit(message, ts);
  }

  #addToAnswer(item: JsonObject, place: string, ts: number | undefined): void {
    if (this.#answer && this.#answer.parts.length + this.#answer.calls.length > ANSWER_MAX) this.endAnswer();
    this.#answer ??= { parts: [], calls: [], items: [], origin: this.origin, ts };
    const { parts, calls, items, origin } = this.#answer;
    if (item['type'] === 'reasoning') {
      if (calls.length > 0) this.#losses.approximate('reasoning between calls, placed before them', place);
      parts.push({ type: 'reasoning', reasoning: codexReasoningOf(item, origin, this.#losses, place) });
    } else if (isCodexCall(item)) calls.push(codexCallOf(item, this.#losses, place));
    else if (PROVIDER_ITEMS.has(item['type'])) items.push({ origin, item });
    else {
      parts.push(...partsOfMessage(item, this.#losses, place));
      if (typeof item['phase'] === 'string') this.#losses.drop('phase of an answer', place);
    }
  }

  #resultOf(item: JsonObject, place: string): Message {
    const name = textField(item, 'name') ?? '';
    const toolCallId = idText(item['call_id']) || (this.#open.newestOf(name) ?? '');
    const { result, media, failed } = codexOutputOf(item['output'] ?? item['result'], this.#losses, place);
    const toolName = this.#open.answered(toolCallId) || name;
    return {
      role: 'tool',
      content: null,
      ...(media.length > 0 ? { parts: media } : {}),
      toolPayload: {
        toolCallId,
        toolName,
        toolResult: failed ? null : result,
        toolError: failed ? errorText(result) : null,
      },
    };
  }
}

export function roleOf(item: JsonObject): CodexRole {
  const { type, role } = item;
  if (type === 'reasoning' || isCodexCall(item) || PROVIDER_ITEMS.has(type)) return 'answer';
  if (isCodexOutput(item)) return 'output';
  if (type !== 'message' && type !== undefined) return null;
  if (role === 'assistant') return 'answer';
  if (role === 'system' || role === 'developer') return 'system';
  return role === 'user' ? 'user' : null;
}

function partsOfMessage(item: JsonObject, losses: LossAccount, place: string): ContentPart[] {
  return codexPartsOf(item['content'] ?? item['message'], losses, place);
}

function errorText(result: JsonValue): string {
  const text = typeof result === 'string' ? result : jsonTextOf(result);
  return text.trim() === '' ? 'The tool failed without a message.' : text;
}
