/** Results of benchmarks and conversations for training. */
import type { JsonObject } from '../../src/core/json.js';
import { type Message, textOf, toolCallsOf, toolResultOf } from '../../src/messages/message.js';
import {
  type Format,
  pairedInOrder,
  resultsTogether,
  textsOnly,
  withFirstSystem,
  withoutSystem,
} from './carried.js';
import { digitsIn } from './conversations.js';
import {
  meaningOf,
  openAiChat,
  outputText,
  withoutReasoning,
  withParsedArguments,
  withTextResult,
} from './shapes.js';

/** A run has the messages of the chat API. Without media. */
const tauBench: Format = {
  name: 'tau-bench',
  says: (history) => history.map(textsOnly),
  means: (said) => meaningOf(openAiChat, said),
  write: (said) =>
    digitsIn([{ task_id: 0, reward: 1, info: { task: {} }, traj: said.map(openAiChat.entry), trial: 0 }]),
};

/** Results in a row are one message. The policy is not among the messages. Without media and reasoning. */
const tau2Bench: Format = {
  name: 'tau2-bench',
  importer: 'tau-bench',
  says: (history) =>
    withoutSystem(history).map((message) =>
      withoutReasoning(withParsedArguments(textsOnly(withTextResult(message, true)))),
    ),
  write(said) {
    const messages = resultsTogether(said).map((group, turn_idx) => {
      const records = group.map((message) => ({
        ...tau2Record(message),
        turn_idx,
        timestamp: '2026-01-02T03:04:05',
      }));
      return records.length === 1 ? records[0]! : { role: 'tool', tool_messages: records };
    });
    const simulation = { id: 's', task_id: '0', termination_reason: 'user_stop', messages };
    return digitsIn({ timestamp: '2026-01-02', info: {}, tasks: [], simulations: [simulation] });
  },
};

function tau2Record(message: Message): JsonObject {
  const result = toolResultOf(message);
  if (result) {
    const outcome = { content: outputText(message), error: result.toolError !== null };
    return { id: result.toolCallId, role: 'tool', ...outcome, requestor: 'assistant' };
  }
  const calls = toolCallsOf(message).map((call) => {
    return { id: call.id, name: call.name, arguments: call.arguments, requestor: 'assistant' };
  });
  const { role } = message;
  return {
    role,
    content: textOf(message),
    tool_calls: calls.length > 0 ? calls : null,
    cost: 0,
    usage: null,
    raw_data: null,
  };
}

/**
 * Texts and calls are members of their own, and no call has an id: a result belongs to the oldest that waits. The first system
 * message is beside the list. Without media, reasoning and marks of errors.
 */
const shareGpt: Format = {
  name: 'sharegpt',
  says: (history) =>
    withFirstSystem(history).flatMap((given) => {
      const message = withoutReasoning(withParsedArguments(textsOnly(withTextResult(given, false))));
      const { toolPayload, ...said } = message;
      if (message.role !== 'assistant' || !toolPayload) return [message];
      return [...(textOf(said) === '' ? [] : [said]), { role: 'assistant', content: null, toolPayload }];
    }),
  means: (said) => pairedInOrder(said, false),
  write(said) {
    const [first] = said;
    const system = first?.role === 'system' ? textOf(first) : '';
    const conversations = withoutSystem(said).map((message) => {
      const calls = toolCallsOf(message).map(({ name, arguments: given }) => ({ name, arguments: given }));
      if (calls.length > 0)
        return { from: 'function_call', value: digitsIn(calls.length === 1 ? calls[0] : calls) };
      if (message.role === 'tool') return { from: 'observation', value: outputText(message) };
      return { from: message.role === 'user' ? 'human' : 'gpt', value: textOf(message) };
    });
    return digitsIn([{ conversations, system, tools: '[]' }]);
  },
};

export const DATASET_FORMATS: readonly Format[] = [tauBench, tau2Bench, shareGpt];
