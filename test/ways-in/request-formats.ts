/** Contents of Gemini, items of Responses, and sessions of ADK, whose events hold contents of Gemini. */
import type { JsonObject, JsonValue } from '../../src/core/json.js';
import { type Message, partsOf, textOf, toolCallsOf, toolResultOf } from '../../src/messages/message.js';
import {
  answerParts,
  type Format,
  joinedAnswers,
  pairedInOrder,
  resultsTogether,
  withEncryptedReasoning,
  withFirstSystem,
  withIds,
  withoutSystem,
  withToolNames,
} from './carried.js';
import { digitsIn } from './conversations.js';
import { dataOf, responsesItems, withParsedArguments, withTextResult } from './shapes.js';

/** A text begins another answer; calls continue the one before them. */
function beginsNextItem(before: Message, answer: Message): boolean {
  return hasContent(before) && hasContent(answer);
}

function hasContent(message: Message): boolean {
  return partsOf(message).some(({ type }) => type !== 'reasoning');
}

/** The mark of failed results is lost. Signed reasoning is encrypted reasoning. */
const responses: Format = {
  name: 'openai-responses',
  says: (history) =>
    history.map((message) => withParsedArguments(withEncryptedReasoning(withTextResult(message, false)))),
  means: (said) => joinedAnswers(said, beginsNextItem),
  write: (said) =>
    digitsIn({ input: said.flatMap((message) => [...reasoningItems(message), ...responsesItems(message)]) }),
};

function reasoningItems({ reasoning = [] }: Message): JsonObject[] {
  return reasoning.map(({ text, encrypted }, index) => ({
    ...{ type: 'reasoning', id: `rs_${index}`, summary: [{ type: 'summary_text', text }] },
    ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
  }));
}

function geminiMedia(ref: string): JsonObject {
  const data = dataOf(ref);
  return data
    ? { inlineData: { mimeType: data.mime, data: data.data } }
    : { fileData: { mimeType: 'image/png', fileUri: ref } };
}

interface GeminiForm {
  readonly hasIds: boolean;
  /** The API takes only objects. */
  wrap(value: JsonValue): JsonObject;
}

function geminiParts(message: Message, { hasIds, wrap }: GeminiForm): JsonObject[] {
  const result = toolResultOf(message);
  if (result) {
    const { toolCallId, toolName, toolResult, toolError } = result;
    const media = (message.parts ?? []).flatMap((part) =>
      part.type === 'media' ? [geminiMedia(part.media.ref)] : [],
    );
    const functionResponse = {
      ...(hasIds ? { id: toolCallId } : {}),
      ...{ name: toolName, response: toolError === null ? wrap(toolResult) : { error: toolError } },
      ...(media.length > 0 ? { parts: media } : {}),
    };
    return [{ functionResponse }];
  }
  const parts = answerParts(message).map((part): JsonObject => {
    if (part.type === 'media') return geminiMedia(part.media.ref);
    if (part.type === 'text') return { text: part.text };
    const { text, signature } = part.reasoning;
    return { text, thought: true, ...(signature === undefined ? {} : { thoughtSignature: signature }) };
  });
  const calls = toolCallsOf(message).map(({ id, name, arguments: args }): JsonObject => {
    return { functionCall: { ...(hasIds ? { id } : {}), name, args } };
  });
  return [...parts, ...calls];
}

const GEMINI: GeminiForm = { hasIds: false, wrap: (output) => ({ output }) };

/** Calls have no ids, and only the first message can be the system instruction. */
const gemini: Format = {
  name: 'gemini',
  says: (history) => withToolNames(withFirstSystem(history)).map(withParsedArguments),
  means: (said) => pairedInOrder(said, true),
  write(said) {
    const [first] = said;
    const system =
      first?.role === 'system' ? { systemInstruction: { parts: [{ text: textOf(first) }] } } : {};
    const contents = resultsTogether(withoutSystem(said)).map((group) => ({
      role: group[0]!.role === 'assistant' ? 'model' : 'user',
      parts: group.flatMap((message) => geminiParts(message, GEMINI)),
    }));
    return digitsIn({ ...system, contents });
  },
};

/** The agent's functions give objects; another value becomes the member `result` of one. */
function adkObject(value: JsonValue): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { result: value };
}

const ADK: GeminiForm = { hasIds: true, wrap: adkObject };

/** Sessions have no instruction of the system. Each call has an id. */
const adk: Format = {
  name: 'adk',
  says: (history) =>
    withToolNames(withoutSystem(history).map(withIds)).map((message) => {
      const result = toolResultOf(message);
      if (!result || result.toolError !== null) return withParsedArguments(message);
      return { ...message, toolPayload: { ...result, toolResult: adkObject(result.toolResult) } };
    }),
  write: (said) =>
    digitsIn({
      ...{ id: 's', appName: 'app', userId: 'u', state: {}, lastUpdateTime: 1759154590.5 },
      events: resultsTogether(said).map((group, index) => {
        const isUser = group[0]!.role === 'user';
        return {
          ...{ id: `e${index}`, invocationId: 'i', author: isUser ? 'user' : 'agent' },
          ...{ timestamp: 1759154590.5 + index, actions: { stateDelta: {}, artifactDelta: {} } },
          content: {
            role: group[0]!.role === 'assistant' ? 'model' : 'user',
            parts: group.flatMap((message) => geminiParts(message, ADK)),
          },
        };
      }),
    }),
};

export const REQUEST_FORMATS: readonly Format[] = [responses, gemini, adk];
