/** Items of the Agents SDK as messages of ours, and back: what the model answered at once is one message, with its reasoning. */
import type { AgentInputItem } from '@openai/agents-core';
import { isJsonObject, type JsonObject } from '../../core/json.js';
import { toJsonValue } from '../../core/to-json-value.js';
import { LossAccount } from '../../messages/importers/loss-account.js';
import { type AgentsPiece, agentsPieceOf } from '../../messages/importers/openai-agents/agents-item.js';
import { assistantContentOf } from '../../messages/importers/reading/content-parts.js';
import { type Message, resultText, toolResultOf } from '../../messages/message.js';
import { type ListEntry, type ListWriter, systemEntry } from '../fitted-list.js';

type Entry = ListEntry<AgentInputItem>;

/** Reads each item once. */
export class InputItems {
  readonly #pieces = new WeakMap<AgentInputItem, AgentsPiece>();
  /** By the first item. */
  readonly #entries = new WeakMap<AgentInputItem, Entry>();

  entriesOf(items: readonly AgentInputItem[]): Entry[] {
    const groups: AgentInputItem[][] = [];
    let isOpen = false;
    for (const item of items) {
      const isOfAnswer = this.#isOfAnswer(item);
      if (isOfAnswer && isOpen) groups.at(-1)!.push(item);
      else groups.push([item]);
      isOpen = isOfAnswer;
    }
    return groups.map((group) => this.#entryOf(group));
  }

  /** The SDK's summary of what it removed stands alone, because it has to stay. */
  #isOfAnswer(item: AgentInputItem): boolean {
    const { kind } = this.#pieceOf(item);
    return kind !== 'message' && kind !== 'result' && item.type !== 'compaction';
  }

  #pieceOf(item: AgentInputItem): AgentsPiece {
    const known = this.#pieces.get(item);
    if (known) return known;
    const json = toJsonValue(item).value;
    const piece =
      (isJsonObject(json) && agentsPieceOf(json, '', new LossAccount())) || unreadable(json as JsonObject);
    this.#pieces.set(item, piece);
    return piece;
  }

  #entryOf(group: readonly AgentInputItem[]): Entry {
    const known = this.#entries.get(group[0]!);
    const isSame =
      known?.sources.length === group.length && group.every((item, at) => item === known.sources[at]);
    if (known && isSame) return known;
    const entry = this.#read(group);
    this.#entries.set(group[0]!, entry);
    return entry;
  }

  #read(group: readonly AgentInputItem[]): Entry {
    const piece = this.#pieceOf(group[0]!);
    if (piece.kind === 'message' && piece.message.role === 'system') return systemEntry(piece.message, group);
    if (piece.kind === 'message') return { message: piece.message, sources: group, isSystem: false };
    if (piece.kind === 'result')
      return { message: resultOf(piece, group[0]!), sources: group, isSystem: false };
    return {
      message: answerOf(
        group.map((item) => this.#pieceOf(item)),
        group,
      ),
      sources: group,
      isSystem: false,
    };
  }
}

/** An item of another kind stays. */
function unreadable(json: JsonObject): AgentsPiece {
  return { kind: 'message', message: { role: 'system', content: JSON.stringify(json) } };
}

function answerOf(pieces: readonly AgentsPiece[], group: readonly AgentInputItem[]): Message {
  const parts = pieces.flatMap((piece) =>
    piece.kind === 'said' || piece.kind === 'thought'
      ? piece.parts
      : piece.kind === 'hosted'
        ? piece.shown
        : [],
  );
  const toolCalls = pieces.flatMap((piece) => (piece.kind === 'call' ? [piece.call] : []));
  const providerItems = pieces.flatMap((piece) => (piece.kind === 'hosted' ? [piece.item] : []));
  return {
    role: 'assistant',
    ...assistantContentOf(parts),
    ...(toolCalls.length > 0 ? { toolPayload: { toolCalls } } : {}),
    ...(providerItems.length > 0 ? { providerItems } : {}),
    ...(group[0]!.type === 'compaction' ? { pinned: true } : {}),
  };
}

/** Only the result of a function may be any text: other results are marked as if they had been cleared, so that they stay whole. */
function resultOf(
  { id, name, parts }: Extract<AgentsPiece, { kind: 'result' }>,
  item: AgentInputItem,
): Message {
  return {
    role: 'tool',
    content: null,
    toolPayload: {
      toolCallId: id,
      toolName: name,
      toolResult: parts.result,
      toolError: null,
      ...(item.type === 'function_call_result' ? {} : { extra: { cleared: true } }),
    },
    ...(parts.media.length > 0 ? { parts: parts.media } : {}),
  };
}

type FunctionResult = Extract<AgentInputItem, { type: 'function_call_result' }>;

/** Writes what a rung made. */
export const ITEM_WRITER: ListWriter<AgentInputItem> = {
  memory: (text) => ({ type: 'message', role: 'user', content: text }),
  result: (item, shorter) =>
    item.type === 'function_call_result' ? { ...item, output: outputOf(item, shorter) } : item,
};

/** A text, next to the media that stay. */
function outputOf({ output }: FunctionResult, shorter: Message): FunctionResult['output'] {
  const text = resultText(toolResultOf(shorter)!);
  if (typeof output === 'string') return text;
  if (!shorter.parts || !Array.isArray(output)) return { type: 'text', text };
  return [{ type: 'input_text', text }, ...output.filter(({ type }) => type !== 'input_text')];
}
