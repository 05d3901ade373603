/** Programs that store events, one per line: Copilot on the command line and Kimi Code. */
import type { JsonObject } from '../../src/core/json.js';
import { type Message, textOf, toolCallsOf, toolResultOf } from '../../src/messages/message.js';
import {
  answerParts,
  batchesOf,
  endsAnswers,
  type Format,
  lineFile,
  textsOnly,
  withEncryptedReasoning,
  withMessageIds,
} from './carried.js';
import { digitsIn } from './conversations.js';
import { outputText, withParsedArguments, withTextResult } from './shapes.js';

const TIME = '2026-02-01T08:00:00.000Z';

/** Without media. Reasoning without an answer is an event of its own. */
const copilotCli: Format = {
  name: 'copilot-cli',
  says: (history) =>
    history.map((message) =>
      withParsedArguments(withEncryptedReasoning(textsOnly(withTextResult(message, true)))),
    ),
  means: withMessageIds,
  write(said) {
    const start = { type: 'session.start', data: { sessionId: 's', version: 1, selectedModel: 'gpt-5' } };
    const events = [start, ...said.flatMap((message, index) => copilotEvents(message, said[index + 1]))].map(
      (event, index) => ({
        ...event,
        ...{ id: `e${index}`, timestamp: TIME, parentId: index === 0 ? null : `e${index - 1}` },
      }),
    );
    return lineFile(
      events.map((event) =>
        event.type === 'assistant.message'
          ? { ...event, data: { ...event.data, messageId: event.id } }
          : event,
      ),
      digitsIn,
    );
  },
};

interface CopilotEvent {
  readonly type: string;
  readonly data: JsonObject;
}

function copilotEvents(message: Message, next: Message | undefined): CopilotEvent[] {
  const { role, reasoning } = message;
  const result = toolResultOf(message);
  if (result) {
    const { toolCallId, toolError } = result;
    const output = { content: outputText(message), detailedContent: outputText(message) };
    const outcome: JsonObject =
      toolError === null
        ? { success: true, result: output }
        : { success: false, error: { message: toolError, code: 'failure' } };
    return [{ type: 'tool.execution_complete', data: { toolCallId, ...outcome } }];
  }
  const content = textOf(message);
  if (role !== 'assistant') return [{ type: `${role}.message`, data: { content, attachments: [] } }];
  const calls = toolCallsOf(message);
  const [thought] = reasoning ?? [];
  const isStopped = content === '' && calls.length === 0 && endsAnswers(next);
  if (thought && thought.encrypted === undefined && isStopped)
    return [{ type: 'assistant.reasoning', data: { reasoningId: 'r', content: thought.text } }];
  const toolRequests = calls.map(({ id, name, arguments: given }) => {
    return { toolCallId: id, name, arguments: given, type: 'function' };
  });
  const thinking: JsonObject = thought
    ? {
        reasoningText: thought.text,
        ...(thought.encrypted === undefined ? {} : { reasoningOpaque: thought.encrypted }),
      }
    : {};
  return [
    { type: 'assistant.turn_start', data: { turnId: '0' } },
    { type: 'assistant.message', data: { content, toolRequests, ...thinking } },
    ...calls.map(({ id, name }) => {
      return { type: 'tool.execution_start', data: { toolCallId: id, toolName: name } };
    }),
  ];
}

/** A system prompt is written when it changes. */
const kimi: Format = {
  name: 'kimi',
  says(history) {
    let system: string | null = null;
    const changed = history.filter((message) => {
      const isSame = message.role === 'system' && textOf(message) === system;
      if (message.role === 'system') system = textOf(message);
      return !isSame;
    });
    return changed.map((message) =>
      withParsedArguments(withEncryptedReasoning(withTextResult(message, true))),
    );
  },
  write: (said) =>
    lineFile(
      [{ type: 'metadata', protocol_version: '1.4', created_at: 1 }, ...batchesOf(said).flatMap(kimiRecords)],
      digitsIn,
    ),
};

function kimiRecords({ first, results }: { first: Message; results: Message[] }): JsonObject[] {
  if (first.role === 'tool') return kimiResults([first]);
  if (first.role === 'system') return [{ type: 'config.update', systemPrompt: textOf(first), time: 1 }];
  const content = kimiParts(first);
  if (first.role === 'user') {
    const message = { role: 'user', content, toolCalls: [], origin: { kind: 'user' } };
    return [
      { type: 'turn.prompt', input: content, origin: { kind: 'user' }, time: 1 },
      { type: 'context.append_message', message, time: 2 },
    ];
  }
  return [
    kimiEvent({ type: 'step.begin', turnId: '0', step: 1 }),
    ...content.map((part) => kimiEvent({ type: 'content.part', part })),
    ...toolCallsOf(first).map(({ id, name, arguments: args }) =>
      kimiEvent({ type: 'tool.call', toolCallId: id, name, args }),
    ),
    ...kimiResults(results),
    kimiEvent({ type: 'step.end', turnId: '0', step: 1, finishReason: 'end_turn' }),
  ];
}

function kimiEvent(event: JsonObject): JsonObject {
  return { type: 'context.append_loop_event', event, time: 3 };
}

function kimiParts(message: Message): JsonObject[] {
  return answerParts(message).map((part): JsonObject => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    if (part.type === 'media') return { type: 'image_url', imageUrl: { url: part.media.ref } };
    const { text, encrypted } = part.reasoning;
    return { type: 'think', think: text, ...(encrypted === undefined ? {} : { encrypted }) };
  });
}

function kimiResults(results: readonly Message[]): JsonObject[] {
  return results.map((message) => {
    const { toolCallId, toolError } = toolResultOf(message)!;
    const media = kimiParts(message);
    const text = outputText(message);
    const output = media.length > 0 ? [{ type: 'text', text }, ...media] : text;
    const result = { output, ...(toolError === null ? {} : { isError: true }) };
    return kimiEvent({ type: 'tool.result', parentUuid: toolCallId, toolCallId, result });
  });
}

export const EVENT_FORMATS: readonly Format[] = [copilotCli, kimi];
