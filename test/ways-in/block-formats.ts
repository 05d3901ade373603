/** Programs that store messages in the form of Anthropic's blocks, or close to it. None has a system prompt. */
import type { JsonObject, JsonValue } from '../../src/core/json.js';
import { type Message, textOf, toolCallsOf, toolResultOf } from '../../src/messages/message.js';
import {
  answerParts,
  type Format,
  joinedAnswers,
  lineFile,
  pairedInOrder,
  resultsTogether,
  textsOnly,
  withIds,
  withInlineMedia,
  withMessageIds,
  withoutSystem,
  withPlainReasoning,
} from './carried.js';
import { digitsIn } from './conversations.js';
import { anthropic, dataOf, outputText, withTextResult } from './shapes.js';

const TIME = '2026-01-02T03:04:05.000Z';

/** The results of one answer are one message of the user. */
function blockMessages(said: readonly Message[]): { role: string; content: JsonObject[] }[] {
  return resultsTogether(said).map((group) => ({
    role: group[0]!.role === 'assistant' ? 'assistant' : 'user',
    content: group.flatMap((message) => {
      const { content } = anthropic.entry(message)!;
      return typeof content === 'string' ? [{ type: 'text', text: content }] : (content as JsonObject[]);
    }),
  }));
}

/** Calls have no ids: a result belongs to the oldest call that waits. Without media, signatures and marks of errors. */
const cursor: Format = {
  name: 'cursor',
  says: (history) =>
    withoutSystem(history).map((message) => withPlainReasoning(textsOnly(withTextResult(message, false)))),
  means: (said) => pairedInOrder(said, false),
  write: (said) =>
    lineFile(
      blockMessages(said).map(({ role, content }) => ({
        role,
        message: { content: content.map((block, index) => withoutId(block, index)) },
      })),
      digitsIn,
    ),
};

function withoutId({ id: _, ...block }: JsonObject, index: number): JsonObject {
  return block['type'] === 'tool_result' ? { ...block, tool_use_id: `t${index}` } : block;
}

const droid: Format = {
  name: 'droid',
  says: (history) => withoutSystem(history).map((message) => withTextResult(message, true)),
  write: (said) =>
    lineFile(
      [
        { type: 'session_start', id: 's', title: 't', owner: 'user', version: 2, cwd: '/w' },
        ...blockMessages(said).map((message, index) => {
          return { type: 'message', id: `m${index}`, timestamp: TIME, message };
        }),
      ],
      digitsIn,
    ),
};

/** Images are bytes. */
const goose: Format = {
  name: 'goose',
  says: (history) => withoutSystem(history).map((message) => withInlineMedia(withTextResult(message, true))),
  write: (said) =>
    lineFile(
      [
        { working_dir: '/w', description: 'd', message_count: said.length, total_tokens: null },
        ...resultsTogether(said).map((group, index) => ({
          ...{ id: `m${index}`, role: group[0]!.role === 'assistant' ? 'assistant' : 'user' },
          ...{ created: 1759154590 + index, metadata: { userVisible: true, agentVisible: true } },
          content: group.flatMap(gooseBlocks),
        })),
      ],
      digitsIn,
    ),
};

function gooseBlocks(message: Message): JsonObject[] {
  const result = toolResultOf(message);
  const said = answerParts(message).flatMap((part): JsonObject[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    const { signature = '', text } = part.type === 'reasoning' ? part.reasoning : { text: null };
    if (part.type === 'reasoning') return [{ type: 'thinking', thinking: text, signature }];
    const { mime, data } = dataOf(part.media.ref)!;
    return [{ type: 'image', data, mimeType: mime }];
  });
  if (!result) {
    const calls = toolCallsOf(message).map(({ id, name, arguments: given }): JsonObject => {
      return { type: 'toolRequest', id, toolCall: { status: 'success', value: { name, arguments: given } } };
    });
    return [...said, ...calls];
  }
  const content = [{ type: 'text', text: outputText(message) }, ...said];
  const toolResult: JsonObject =
    result.toolError === null
      ? { status: 'success', value: { content, isError: false } }
      : { status: 'error', error: result.toolError };
  return [{ type: 'toolResponse', id: result.toolCallId, toolResult }];
}

/** The value of a result is stored as it is, except that no program gives null or a bare list. Without media. */
const amp: Format = {
  name: 'amp',
  says: (history) =>
    withoutSystem(history).map((given) => {
      const message = textsOnly(given);
      const value = toolResultOf(message)?.toolResult;
      return value === null || Array.isArray(value) ? withTextResult(message, true) : message;
    }),
  write: (said) =>
    digitsIn({
      ...{ v: 85, id: 'T-019ca1f6-7f21-77b5-a308-65416ebbdf48', created: 1772243812131, title: 't' },
      messages: resultsTogether(said).map((group, index) => {
        const isAnswer = group[0]!.role === 'assistant';
        return {
          ...{ role: isAnswer ? 'assistant' : 'user', messageId: index },
          content: group.flatMap(ampBlocks),
          ...(isAnswer
            ? { state: { type: 'complete', stopReason: 'end_turn' } }
            : { meta: { sentAt: 1772243812131 + index } }),
        };
      }),
    }),
};

function ampBlocks(message: Message): JsonObject[] {
  const result = toolResultOf(message);
  if (!result)
    return (blockMessages([message])[0]?.content ?? []).map((block) =>
      block['type'] === 'tool_use' ? { ...block, complete: true } : block,
    );
  const run: JsonObject =
    result.toolError === null
      ? { status: 'done', result: result.toolResult }
      : { status: 'error', error: { message: result.toolError } };
  return [{ type: 'tool_result', toolUseID: result.toolCallId, run }];
}

/**
 * All answers, calls and results between two messages of the user are one message: only results part the answers in it.
 * Without media and signatures. Blank texts are no blocks.
 */
const claudeAi: Format = {
  name: 'claude-ai',
  says: (history) =>
    withoutSystem(history).map((message) =>
      withIds(withPlainReasoning(textsOnly(withTextResult(message, true)))),
    ),
  means: (said) =>
    withMessageIds(joinedAnswers(said.map(withoutBlankText), () => false)).map((message, index, all) =>
      all[index - 1]?.role === 'tool' ? withoutMessageId(message) : message,
    ),
  write(said) {
    const messages: { sender: string; content: JsonObject[] }[] = [];
    for (const message of said) {
      const sender = message.role === 'user' ? 'human' : 'assistant';
      const last = messages.at(-1);
      const content = blockMessages([message])[0]?.content ?? [];
      if (sender === 'assistant' && last?.sender === sender) last.content.push(...content);
      else messages.push({ sender, content });
    }
    const chat_messages = messages.map(
      ({ sender, content }, index): JsonValue => ({
        ...{ uuid: `m${index}`, parent_message_uuid: `m${index - 1}`, sender, created_at: TIME },
        ...{ text: content.map((block) => block['text'] ?? '').join(''), content },
        ...{ attachments: [], files: [] },
      }),
    );
    return digitsIn([{ uuid: 'c', name: 'n', created_at: TIME, chat_messages }]);
  },
};

/** The id is that of the first answer. */
function withoutMessageId({ messageId: _, ...message }: Message): Message {
  return message;
}

function withoutBlankText(message: Message): Message {
  return message.role === 'assistant' && textOf(message).trim() === ''
    ? { ...message, content: null }
    : message;
}

export const BLOCK_FORMATS: readonly Format[] = [cursor, droid, goose, amp, claudeAi];
