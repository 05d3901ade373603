/** Programs that keep a result with its call, so that none is late, of nothing, or told twice. */
import { isJsonObject, type JsonObject, tryParseJson } from '../../src/core/json.js';
import {
  type Message,
  type ReasoningItem,
  textOf,
  toolCallsOf,
  toolResultOf,
} from '../../src/messages/message.js';
import {
  batchesOf,
  endsAnswers,
  type Format,
  inLoop,
  lineFile,
  textsOnly,
  withEncryptedReasoning,
  withMessageIds,
  withoutSystem,
  withPlainReasoning,
} from './carried.js';
import { digitsIn } from './conversations.js';
import { turnsOf } from './host-turns.js';
import { argumentsText, openAiChat, outputText, withParsedArguments, withTextResult } from './shapes.js';

interface Batch {
  readonly first: Message;
  readonly results: readonly Message[];
}

/** A request is a turn. Without system messages, media and marks of errors. */
const copilotChat: Format = {
  name: 'copilot-chat',
  says(history) {
    const texts = history.map((message) => textsOnly(withTextResult(message, false)));
    return inLoop(turnsOf(texts).flat()).map((message) =>
      withParsedArguments(withEncryptedReasoning(message)),
    );
  },
  write(said) {
    const head = { version: 3, creationDate: 1, responderUsername: 'GitHub Copilot' };
    const changes = turnsOf(said).flatMap((turn, at): JsonObject[] => {
      const [prompt, ...rounds] = batchesOf(turn);
      const text = textOf(prompt!.first);
      const message = { text, parts: [{ text, kind: 'text' }] };
      const request = { requestId: `r${at}`, timestamp: 1770580260000, modelId: 'copilot/gpt-4o', message };
      const response = rounds.map(({ first }) => ({ value: textOf(first) }));
      const metadata = isOnlyShown(rounds) ? {} : copilotMetadata(rounds);
      return [
        { kind: 2, k: ['requests'], v: [{ ...request, response }] },
        { kind: 1, k: ['requests', at, 'result'], v: { timings: { totalElapsed: 1 }, metadata } },
      ];
    });
    return lineFile([{ kind: 0, v: { ...head, requests: [] } }, ...changes], digitsIn);
  },
};

/** Older chats have only the answer that was shown. */
function isOnlyShown([round, ...others]: readonly Batch[]): boolean {
  return others.length === 0 && !round?.first.reasoning && toolCallsOf(round?.first ?? NOTHING).length === 0;
}

const NOTHING: Message = { role: 'assistant', content: null };

function copilotMetadata(rounds: readonly Batch[]): JsonObject {
  const results = rounds.flatMap((round) => round.results);
  return {
    toolCallRounds: rounds.map(({ first }) => {
      const [thought] = first.reasoning ?? [];
      return {
        response: textOf(first),
        toolCalls: toolCallsOf(first).map((call) => {
          return { id: call.id, name: call.name, arguments: argumentsText(call) };
        }),
        ...(thought ? { thinking: { id: 't', text: thought.text, ...encryptedIn(thought) } } : {}),
      };
    }),
    toolCallResults: Object.fromEntries(
      results.map((message) => {
        const { toolCallId, toolResult } = toolResultOf(message)!;
        return [toolCallId, { content: [{ value: toolResult }] }];
      }),
    ),
  };
}

function encryptedIn({ encrypted }: ReasoningItem): JsonObject {
  return encrypted === undefined ? {} : { encrypted };
}

/** A thought is a record before the answer, and the only one of an answer that was stopped. Without system messages. */
const continueSessions: Format = {
  name: 'continue',
  says: (history) =>
    inLoop(withoutSystem(history)).map((given) => {
      const message = withParsedArguments(withTextResult(given, true));
      return message.role === 'tool' ? textsOnly(message) : message;
    }),
  write: (said) =>
    digitsIn({
      ...{ sessionId: 's', title: 't', workspaceDirectory: '/w' },
      history: batchesOf(said)
        .flatMap((batch, index, all) => continueRecords(batch, all[index + 1]?.first))
        .map((record) => ({ contextItems: [], ...record })),
    }),
};

function continueRecords({ first, results }: Batch, next: Message | undefined): JsonObject[] {
  const { tool_calls, reasoning_content: _, ...message } = openAiChat.entry(first)!;
  const thoughts = (first.reasoning ?? []).map(({ text, signature }): JsonObject => {
    return { role: 'thinking', content: text, ...(signature === undefined ? {} : { signature }) };
  });
  const isBare = textOf(first) === '' && tool_calls === undefined;
  const isStopped = thoughts.length > 0 && isBare && endsAnswers(next);
  const states = toolCallsOf(first).map((call) => continueState(call.id, results));
  const content = Array.isArray(message['content'])
    ? message['content'].map((part) => continuePart(part as JsonObject))
    : (message['content'] ?? '');
  const answer: JsonObject = {
    message: { ...message, content, ...(tool_calls === undefined ? {} : { toolCalls: tool_calls }) },
    ...(states.length > 0 ? { toolCallStates: states } : {}),
  };
  return [...thoughts.map((thought) => ({ message: thought })), ...(isStopped ? [] : [answer])];
}

function continuePart(part: JsonObject): JsonObject {
  return part['type'] === 'image_url' ? { type: 'imageUrl', imageUrl: part['image_url']! } : part;
}

function continueState(toolCallId: string, results: readonly Message[]): JsonObject {
  const result = results.find((message) => toolResultOf(message)?.toolCallId === toolCallId);
  if (!result) return { toolCallId, status: 'generated' };
  const output = [{ name: 'Tool Result', description: '', content: outputText(result) }];
  return { toolCallId, status: toolResultOf(result)!.toolError === null ? 'done' : 'errored', output };
}

/**
 * Thoughts, texts and calls are messages of their own, and each call waits for its result. Without blank messages; of media only
 * that there were some. A failure has the name of an error before its text, and arguments that are no object are the argument `input`.
 */
const chatGpt: Format = {
  name: 'chatgpt',
  says(history) {
    const said: Message[] = [];
    let thoughts: ReasoningItem[] = [];
    for (const { first, results } of batchesOf(inLoop(history.map(withPlainReasoning)))) {
      const isAnswer = first.role === 'assistant';
      const { reasoning = [], toolPayload: _, ...rest } = first;
      const text = textOf(first).trim() === '' ? [] : [rest];
      const calls = toolCallsOf(first).flatMap((call): Message[] => [
        {
          role: 'assistant',
          content: null,
          toolPayload: { toolCalls: [{ ...call, arguments: inputOf(call) }] },
        },
        ...results.filter((message) => toolResultOf(message)?.toolCallId === call.id).map(chatGptResult),
      ]);
      if (isAnswer) thoughts.push(...reasoning); // an answer without words is not there: its thoughts belong to the next one
      const [next, ...others] = [...text, ...calls];
      if (!next) continue;
      said.push(isAnswer && thoughts.length > 0 ? { ...next, reasoning: thoughts } : withPlaceholders(next));
      said.push(...others);
      thoughts = [];
    }
    return said;
  },
  means: withMessageIds,
  write(said) {
    const messages = said.flatMap(chatGptMessages);
    const other = { author: { role: 'user' }, content: { content_type: 'text', parts: ['taken back'] } };
    const nodes = messages.map((message, index) => ({
      ...{ id: `n${index + 1}`, parent: `n${index}`, children: [`n${index + 2}`] },
      message: { id: `m${index + 1}`, create_time: 100 + index, recipient: 'all', ...message },
    }));
    const root = { id: 'n0', parent: null, children: ['n1', 'other'], message: null };
    const all = [
      root,
      ...nodes,
      { id: 'other', parent: 'n0', children: [], message: { id: 'mo', ...other } },
    ];
    const mapping = Object.fromEntries(all.map((node) => [node.id, node]));
    return digitsIn([{ title: 't', create_time: 1, mapping, current_node: `n${messages.length}` }]);
  },
};

function inputOf(call: ReturnType<typeof toolCallsOf>[number]) {
  const text = argumentsText(call);
  const parsed = typeof call.arguments === 'string' ? tryParseJson(text) : call.arguments;
  if (isJsonObject(parsed)) return parsed;
  return text === '' ? {} : { input: text };
}

function chatGptResult(given: Message): Message {
  const message = textsOnly(withTextResult(given, true));
  const result = toolResultOf(message)!;
  const toolError = result.toolError === null ? null : `ToolError\n${result.toolError}`;
  return { ...message, toolPayload: { ...result, toolError } };
}

const ASSET = 'sediment://file_a';

function withPlaceholders(message: Message): Message {
  if (!message.parts) return message;
  const parts = message.parts.map((part) =>
    part.type === 'media' ? { type: 'text' as const, text: `[image: ${ASSET}]` } : part,
  );
  return { ...message, parts };
}

function chatGptMessages(message: Message): JsonObject[] {
  const { role, reasoning = [], parts } = message;
  const result = toolResultOf(message);
  if (result) {
    const { toolName, toolResult, toolError } = result;
    const content: JsonObject =
      toolError === null
        ? { content_type: 'execution_output', text: toolResult }
        : { content_type: 'system_error', name: 'ToolError', text: toolError.replace('ToolError\n', '') };
    return [{ author: { role, name: toolName }, content }];
  }
  const author = { role, name: null };
  const thoughts = reasoning.map(({ text }) => ({ summary: '', content: text }));
  const before = thoughts.length > 0 ? [{ author, content: { content_type: 'thoughts', thoughts } }] : [];
  const [call] = toolCallsOf(message);
  if (call) {
    const content = { content_type: 'code', language: 'json', text: callText(call.arguments as JsonObject) };
    return [...before, { author, content, recipient: call.name }];
  }
  const shown = (parts ?? [{ type: 'text' as const, text: textOf(message) }]).map((part) => {
    const text = part.type === 'text' ? part.text : '';
    const isImage = text === `[image: ${ASSET}]`;
    return isImage ? { content_type: 'image_asset_pointer', asset_pointer: ASSET } : text;
  });
  const content_type = parts ? 'multimodal_text' : 'text';
  return [...before, { author, content: { content_type, parts: shown } }];
}

function callText(given: JsonObject): string {
  const { input } = given;
  return typeof input === 'string' ? input : digitsIn(given);
}

/** Without media and marks of errors. Thoughts have no signatures. */
const atif: Format = {
  name: 'atif',
  says: (history) =>
    inLoop(history).map((given) => {
      const message = textsOnly(withTextResult(given, false));
      return message.role === 'assistant' ? openAiChat.meaning(message)! : message;
    }),
  write: (said) =>
    digitsIn({
      ...{
        schema_version: 'ATIF-v1.4',
        session_id: 's',
        agent: { name: 'a', version: '1', model_name: 'm' },
      },
      steps: batchesOf(said).map(({ first, results }, index) => {
        const { role, reasoningContent } = first;
        const calls = toolCallsOf(first).map((call) => {
          return { tool_call_id: call.id, function_name: call.name, arguments: call.arguments };
        });
        const outputs = results.map((message) => {
          return { source_call_id: toolResultOf(message)!.toolCallId, content: outputText(message) };
        });
        return {
          ...{ step_id: index + 1, source: role === 'assistant' ? 'agent' : role, message: textOf(first) },
          ...(reasoningContent === undefined ? {} : { reasoning_content: reasoningContent }),
          ...(calls.length > 0 ? { tool_calls: calls } : {}),
          ...(outputs.length > 0 ? { observation: { results: outputs } } : {}),
        };
      }),
    }),
};

export const TURN_FORMATS: readonly Format[] = [copilotChat, continueSessions, chatGpt, atif];
