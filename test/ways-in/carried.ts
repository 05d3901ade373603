/** What a format cannot say is taken out of a history before it is written: what is left is what the file means. */
import type { JsonValue } from '../../src/core/json.js';
import {
  type ContentPart,
  type Message,
  partsOf,
  type ReasoningItem,
  type ToolCallSpec,
  toolCallsOf,
  toolResultOf,
} from '../../src/messages/message.js';
import { stepsOf } from './host-turns.js';

/** A transcript of a program. Its way in is `import <name>`. */
export interface Format {
  readonly name: string;
  /** The name of its importer, if that is another. */
  readonly importer?: string;
  /** What the program can have written of the history. */
  says(history: readonly Message[]): Message[];
  /** What the file means; left out where that is what it says. */
  means?(said: readonly Message[]): Message[];
  /** The file, as the program writes it. */
  write(said: readonly Message[]): string;
}

export function withoutSystem(history: readonly Message[]): Message[] {
  return history.filter(({ role }) => role !== 'system');
}

/** For formats with one system prompt, beside the messages. */
export function withFirstSystem(history: readonly Message[]): Message[] {
  return history.filter(({ role }, index) => role !== 'system' || index === 0);
}

/** Without the media that `isCarried` refuses. */
export function withMedia(message: Message, isCarried: (ref: string) => boolean): Message {
  if (!message.parts) return message;
  const { parts, ...rest } = message;
  const left = parts.filter((part) => part.type !== 'media' || isCarried(part.media.ref));
  return left.length > 0 ? { ...rest, parts: left } : rest;
}

export const textsOnly = (message: Message): Message => withMedia(message, () => false);
export const withInlineMedia = (message: Message): Message =>
  withMedia(message, (ref) => ref.startsWith('data:'));

function withReasoning(message: Message, change: (item: ReasoningItem) => ReasoningItem): Message {
  return message.reasoning ? { ...message, reasoning: message.reasoning.map(change) } : message;
}

/** Texts of reasoning, without what its maker signed. */
export function withPlainReasoning(message: Message): Message {
  return withReasoning(message, ({ text }) => ({ text }));
}

/** For formats in which reasoning has a text and an encrypted form. */
export function withEncryptedReasoning(message: Message): Message {
  return withReasoning(message, ({ text, signature }) => ({
    text,
    ...(signature === undefined ? {} : { encrypted: signature }),
  }));
}

/** No id is empty. */
export function withIds(message: Message): Message {
  const result = toolResultOf(message);
  const idOf = (id: string) => (id === '' ? 'no_id' : id);
  if (result) return { ...message, toolPayload: { ...result, toolCallId: idOf(result.toolCallId) } };
  const calls = toolCallsOf(message).map((call) => ({ ...call, id: idOf(call.id) }));
  return calls.length > 0 ? { ...message, toolPayload: { toolCalls: calls } } : message;
}

/** Results with the tool of the last call before them that has their id. */
export function withToolNames(history: readonly Message[]): Message[] {
  const names = new Map<string, string>();
  return history.map((message) => {
    for (const { id, name } of toolCallsOf(message)) names.set(id, name);
    const result = toolResultOf(message);
    const toolName = names.get(result?.toolCallId ?? '') ?? 'read';
    return result ? { ...message, toolPayload: { ...result, toolName } } : message;
  });
}

/** Of formats without ids: a result belongs to the oldest call that waits, or to the oldest of its tool. */
export function pairedInOrder(history: readonly Message[], isByName: boolean): Message[] {
  let made = 0;
  const waiting: { readonly id: string; readonly name: string }[] = [];
  return history.map((message) => {
    const result = toolResultOf(message);
    if (result) {
      const at = waiting.findIndex(({ name }) => !isByName || name === result.toolName);
      const [call] = at < 0 ? [] : waiting.splice(at, 1);
      return { ...message, toolPayload: { ...result, toolCallId: call?.id ?? '' } };
    }
    const toolCalls = toolCallsOf(message).map((call) => {
      made += 1;
      return { ...call, id: `in_order_${made}` };
    });
    waiting.push(...toolCalls);
    return toolCalls.length > 0 ? { ...message, toolPayload: { toolCalls } } : message;
  });
}

/** Of programs that keep a result with its call: results directly behind their answers, and ids that are never used twice. */
export function inLoop(history: readonly Message[]): Message[] {
  let made = 0;
  return stepsOf(history).flatMap(({ answer, outcomes }) => {
    const toolCalls = toolCallsOf(answer).map((call) => {
      made += 1;
      return { ...call, id: `call_${made}` };
    });
    const said = toolCalls.length > 0 ? { ...answer, toolPayload: { toolCalls } } : answer;
    const results = outcomes.flatMap((message, index): Message[] => {
      const result = message && toolResultOf(message);
      if (!message || !result) return [];
      const { id, name } = toolCalls[index]!;
      return [{ ...message, toolPayload: { ...result, toolCallId: id, toolName: name } }];
    });
    return [said, ...results];
  });
}

/** Whether what is next leaves no doubt that nothing follows the reasoning before it. */
export function endsAnswers(next: Message | undefined): boolean {
  return next === undefined || next.role === 'user' || next.role === 'system';
}

/** Answers with an id of their own are never one. */
export function withMessageIds(said: readonly Message[]): Message[] {
  return said.map((message, index) =>
    message.role === 'assistant' ? { ...message, messageId: `m${index}` } : message,
  );
}

/** The answer with the results directly behind it; other messages alone. */
export function batchesOf(said: readonly Message[]): { first: Message; results: Message[] }[] {
  const batches: { first: Message; results: Message[] }[] = [];
  for (const message of said) {
    const last = batches.at(-1);
    if (message.role === 'tool' && last?.first.role === 'assistant') last.results.push(message);
    else batches.push({ first: message, results: [] });
  }
  return batches;
}

/** Results in a row are one entry in many formats. */
export function resultsTogether(said: readonly Message[]): Message[][] {
  const groups: Message[][] = [];
  for (const message of said) {
    const last = groups.at(-1);
    if (message.role === 'tool' && last?.[0]?.role === 'tool') last.push(message);
    else groups.push([message]);
  }
  return groups;
}

/** Reasoning, then what was said. */
export function answerParts(message: Message): ContentPart[] {
  const thoughts = (message.reasoning ?? []).map((reasoning) => ({ type: 'reasoning' as const, reasoning }));
  return [...thoughts, ...partsOf(message)];
}

/** Reasoning before the first text is no part of the content. */
export function answerOf(parts: readonly ContentPart[], toolCalls: readonly ToolCallSpec[]): Message {
  const first = parts.findIndex(({ type }) => type !== 'reasoning');
  const end = first < 0 ? parts.length : first;
  const isPlaced = parts.slice(end).some(({ type }) => type === 'reasoning');
  const reasoning = parts.slice(0, end).flatMap((part) => (part.type === 'reasoning' ? part.reasoning : []));
  return {
    role: 'assistant',
    content: null,
    parts: isPlaced ? parts : parts.slice(end),
    ...(isPlaced ? {} : { reasoning }),
    ...(toolCalls.length > 0 ? { toolPayload: { toolCalls } } : {}),
  };
}

/** Of formats without an end of an answer: an answer directly behind another continues it, unless it begins a next one. */
export function joinedAnswers(
  said: readonly Message[],
  beginsNext: (before: Message, answer: Message) => boolean,
): Message[] {
  const messages: Message[] = [];
  for (const message of said) {
    const last = messages.at(-1);
    const isAnswer = message.role === 'assistant';
    if (!isAnswer || last?.role !== 'assistant' || beginsNext(last, message)) messages.push(message);
    else {
      const calls = [...toolCallsOf(last), ...toolCallsOf(message)];
      messages[messages.length - 1] = answerOf([...answerParts(last), ...answerParts(message)], calls);
    }
  }
  return messages;
}

export function lineFile(records: readonly JsonValue[], write: (value: unknown) => string): string {
  return records.map((record) => `${write(record)}\n`).join('');
}
