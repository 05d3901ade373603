/**
 * How a conversation is written in the shapes of the providers, and which neutral messages that text means. Written apart from the
 * importers and the projections of the library: nothing is repaired, and what a shape cannot say is not in its meaning.
 */
import { type JsonObject, type JsonValue, tryParseJson } from '../../src/core/json.js';
import {
  type ContentPart,
  type Message,
  partsOf,
  resultText,
  type ToolCallSpec,
  textOf,
  toolCallsOf,
  toolResultOf,
} from '../../src/messages/message.js';
import { messageToJson } from '../../src/messages/message-serializer.js';
import { digitsIn } from './conversations.js';

export interface Shape {
  readonly name: string;
  /** As members of a list. Roles that the shape does not have are left out. */
  entry(message: Message): JsonObject | null;
  /** What the entry says; null where it says nothing. */
  meaning(message: Message): Message | null;
  /** The whole file; a list of entries when left out. */
  document?(messages: readonly Message[]): string;
}

const textPart = (part: ContentPart): string => (part.type === 'text' ? part.text : '');

export function argumentsText(call: ToolCallSpec): string {
  return typeof call.arguments === 'string' ? call.arguments : digitsIn(call.arguments);
}

/** What is written as text is what it parses to, where it parses. */
export function withParsedArguments(message: Message): Message {
  const calls = toolCallsOf(message);
  if (calls.length === 0) return message;
  const toolCalls = calls.map((call) => {
    const { arguments: given } = call;
    const parsed = typeof given === 'string' ? tryParseJson(given) : undefined;
    return parsed === undefined ? call : { ...call, arguments: parsed };
  });
  return { ...message, toolPayload: { toolCalls } };
}

/** Results as texts; their images stay. */
export function withTextResult(message: Message, keepsErrors: boolean): Message {
  const result = toolResultOf(message);
  if (!result) return message;
  const text = outputText(message);
  const failed = keepsErrors && result.toolError !== null;
  const outcome = failed ? { toolResult: null, toolError: text } : { toolResult: text, toolError: null };
  return { ...message, toolPayload: { ...result, ...outcome } };
}

export function outputText(message: Message): string {
  const result = toolResultOf(message)!;
  const isText = result.toolError !== null || typeof result.toolResult === 'string';
  return isText ? resultText(result) : digitsIn(result.toolResult);
}

export function withoutReasoning({ reasoning: _, ...message }: Message): Message {
  return message;
}

export function dataOf(ref: string): { mime: string; data: string } | null {
  const match = /^data:([^;]+);base64,(.*)$/.exec(ref);
  return match ? { mime: match[1]!, data: match[2]! } : null;
}

function mapMedia(message: Message, write: (ref: string) => JsonObject): JsonObject[] {
  return partsOf(message).flatMap((part) =>
    part.type === 'media' ? [write(part.media.ref)] : [{ type: 'text', text: textPart(part) }],
  );
}

const chatImage = (url: string): JsonObject => ({ type: 'image_url', image_url: { url } });

export const openAiChat: Shape = {
  name: 'openai-chat',
  entry(message) {
    const { role, content, reasoning } = message;
    const result = toolResultOf(message);
    if (result) {
      const images = (message.parts ?? []).flatMap((part) =>
        part.type === 'media' ? [chatImage(part.media.ref)] : [],
      );
      const text = outputText(message);
      return {
        ...{ role, tool_call_id: result.toolCallId },
        content: images.length > 0 ? [{ type: 'text', text }, ...images] : text,
      };
    }
    const calls = toolCallsOf(message);
    return {
      role,
      content: message.parts ? mapMedia(message, chatImage) : content,
      ...(reasoning ? { reasoning_content: reasoning.map(({ text }) => text).join('') } : {}),
      ...(calls.length > 0
        ? {
            tool_calls: calls.map((call) => ({
              ...{ id: call.id, type: 'function' },
              function: { name: call.name, arguments: argumentsText(call) },
            })),
          }
        : {}),
    };
  },
  meaning(message) {
    const { reasoning, ...rest } = withParsedArguments(withTextResult(message, false));
    return reasoning ? { ...rest, reasoningContent: reasoning.map(({ text }) => text).join('') } : rest;
  },
  document: (messages) => digitsIn({ messages: messages.map(openAiChat.entry) }),
};

function anthropicImage(ref: string): JsonObject {
  const data = dataOf(ref);
  const source = data
    ? { type: 'base64', media_type: data.mime, data: data.data }
    : { type: 'url', url: ref };
  return { type: 'image', source };
}

export const anthropic: Shape = {
  name: 'anthropic',
  entry(message) {
    if (message.role === 'system') return null;
    const result = toolResultOf(message);
    if (result) {
      const images = (message.parts ?? []).flatMap((part) =>
        part.type === 'media' ? [anthropicImage(part.media.ref)] : [],
      );
      const text = outputText(message);
      const block: JsonObject = {
        ...{ type: 'tool_result', tool_use_id: result.toolCallId },
        content: images.length > 0 ? [{ type: 'text', text }, ...images] : text,
        ...(result.toolError === null ? {} : { is_error: true }),
      };
      return { role: 'user', content: [block] };
    }
    if (message.role === 'user' && !message.parts) return { role: 'user', content: message.content };
    const thoughts = (message.reasoning ?? []).map(
      ({ text, signature }): JsonObject => ({
        ...{ type: 'thinking', thinking: text },
        ...(signature === undefined ? {} : { signature }),
      }),
    );
    const uses = toolCallsOf(message).map((call): JsonObject => {
      return { type: 'tool_use', id: call.id, name: call.name, input: call.arguments };
    });
    return { role: message.role, content: [...thoughts, ...mapMedia(message, anthropicImage), ...uses] };
  },
  meaning: (message) => (message.role === 'system' ? null : withTextResult(message, true)),
  document: (messages) =>
    digitsIn({
      ...{ model: 'claude-x', max_tokens: 9, anthropic_version: 'x' },
      messages: messages.flatMap((message) => anthropic.entry(message) ?? []),
    }),
};

export const aiSdk: Shape = {
  name: 'ai-sdk',
  entry(message) {
    const { role } = message;
    const result = toolResultOf(message);
    if (result) {
      const failed = result.toolError !== null;
      const output: JsonObject = failed
        ? { type: 'error-text', value: result.toolError }
        : { type: typeof result.toolResult === 'string' ? 'text' : 'json', value: result.toolResult };
      const part = { type: 'tool-result', toolCallId: result.toolCallId, toolName: 'read', output };
      return { role, content: [part] };
    }
    if (role === 'system') return { role, content: textOf(message) };
    const image = (ref: string): JsonObject => ({ type: 'file', mediaType: 'image/png', data: ref });
    const calls = toolCallsOf(message).map((call): JsonObject => {
      return { type: 'tool-call', toolCallId: call.id, toolName: call.name, input: call.arguments };
    });
    const thoughts = (message.reasoning ?? []).map(({ text }): JsonObject => ({ type: 'reasoning', text }));
    return { role, content: [...thoughts, ...mapMedia(message, image), ...calls] };
  },
  meaning(message) {
    const { reasoning } = message;
    const plain = reasoning ? { reasoning: reasoning.map(({ text }) => ({ text })) } : {};
    const { parts: _, ...said } = { ...message, ...plain };
    return toolResultOf(message) ? said : withParsedArguments({ ...message, ...plain });
  },
};

export function responsesItems(message: Message): JsonObject[] {
  const result = toolResultOf(message);
  if (result) {
    const images = (message.parts ?? []).flatMap((part) =>
      part.type === 'media' ? [{ type: 'input_image', image_url: part.media.ref }] : [],
    );
    const text = outputText(message);
    const output: JsonValue = images.length > 0 ? [{ type: 'input_text', text }, ...images] : text;
    return [{ type: 'function_call_output', call_id: result.toolCallId, output }];
  }
  const type = message.role === 'assistant' ? 'output_text' : 'input_text';
  const content = partsOf(message).map((part): JsonObject => {
    if (part.type === 'media') return { type: 'input_image', image_url: part.media.ref };
    return { type, text: textPart(part) };
  });
  const said: JsonObject[] =
    content.length > 0 ? [{ type: 'message', role: message.role, content: content as JsonValue }] : [];
  return [
    ...said,
    ...toolCallsOf(message).map((call): JsonObject => {
      const fields = { name: call.name, arguments: argumentsText(call) };
      return { type: 'function_call', call_id: call.id, ...fields };
    }),
  ];
}

export const langGraph: Shape = {
  name: 'langgraph',
  entry(message) {
    const result = toolResultOf(message);
    if (result) {
      const status = result.toolError === null ? 'success' : 'error';
      return { type: 'tool', tool_call_id: result.toolCallId, content: outputText(message), status };
    }
    const type = { system: 'system', user: 'human', assistant: 'ai', tool: 'tool' }[message.role];
    const content = message.parts ? mapMedia(message, chatImage) : (message.content ?? '');
    const tool_calls = toolCallsOf(message).map(({ id, name, arguments: args }) => ({
      ...{ id, name, args },
      type: 'tool_call',
    }));
    return { type, content, ...(tool_calls.length > 0 ? { tool_calls } : {}) };
  },
  meaning(message) {
    const said = withoutReasoning(withTextResult(message, true));
    const { parts: _, ...plain } = said;
    return toolResultOf(said) ? plain : withParsedArguments(said);
  },
};

export const rekindle: Shape = {
  name: 'rekindle',
  entry: (message) => messageToJson(message),
  meaning: (message) => message,
};

export const SHAPES: readonly Shape[] = [openAiChat, anthropic, aiSdk, langGraph, rekindle];

/** A file of the shape. */
export function documentOf(shape: Shape, messages: readonly Message[]): string {
  return shape.document?.(messages) ?? digitsIn(messages.map(shape.entry));
}

export function meaningOf(shape: Shape, messages: readonly Message[]): Message[] {
  return messages.flatMap((message) => shape.meaning(message) ?? []);
}
