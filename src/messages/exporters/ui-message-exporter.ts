/**
 * Writes `UIMessage`s of the Vercel AI SDK 6. All answers of one turn form one assistant message. Each model response
 * in it is a step, and each call is one part together with its result.
 *
 * Not carried over: `argumentsText`, ids and origins of messages, items that only a provider understands, images in
 * results (a UI result is one JSON value), blank messages, and the marks for summaries and pinned messages. A result
 * without its call gets an empty call.
 */
import type { JsonObject, JsonValue } from '../../core/json.js';
import { callMetadataOf, reasoningMetadataOf, textMetadataOf } from '../ai-sdk-signatures.js';
import { type ContentPart, type Message, toolCallsOf, toolResultOf } from '../message.js';
import { contentPartsOf, embed, missingText } from './export-media.js';
import { digestOf, type ExportOptions, type TranscriptExporter } from './transcript-exporter.js';

export const uiMessageExporter: TranscriptExporter = {
  format: 'ai-sdk-ui',
  title: 'Vercel AI SDK UI messages',
  extension: '.json',
  *write(messages, options) {
    let written = 0;
    for (const group of groupsOf(messages)) {
      const message = uiMessageOf(group, options);
      if (!message) continue;
      const id = `msg_${digestOf(options.agentId, String(written), JSON.stringify(message)).slice(0, 24)}`;
      yield `${written === 0 ? '[\n' : ',\n'}${JSON.stringify({ id, ...message })}`;
      written += 1;
    }
    yield written === 0 ? '[]\n' : '\n]\n';
  },
};

/** Consecutive messages that form one UI message: a user or system message alone, else all messages up to the next of these. */
function* groupsOf(messages: readonly Message[]): Generator<readonly Message[]> {
  let answer: Message[] = [];
  for (const message of messages) {
    const isAnswer = message.role === 'assistant' || message.role === 'tool';
    if (isAnswer) answer.push(message);
    else {
      if (answer.length > 0) yield answer;
      answer = [];
      yield [message];
    }
  }
  if (answer.length > 0) yield answer;
}

/** Null for a user or system message without content, which the SDK rejects. */
function uiMessageOf(group: readonly Message[], options: ExportOptions): JsonObject | null {
  const role = group[0]?.role;
  if (role !== 'user' && role !== 'system') return { role: 'assistant', parts: answerParts(group, options) };
  const parts = group.flatMap((message) =>
    contentPartsOf(message).flatMap((part) => uiPart(part, message, options)),
  );
  return parts.length > 0 ? { role, parts } : null;
}

function answerParts(group: readonly Message[], options: ExportOptions): JsonObject[] {
  const parts: JsonObject[] = [];
  const open = new Map<string, JsonObject>();
  for (const message of group) {
    if (message.role === 'tool') addResult(message, parts, open);
    else {
      parts.push({ type: 'step-start' }, ...stepParts(message, options));
      for (const call of toolCallsOf(message)) {
        const part = toolPart(call.name, call.id, call.arguments, callMetadataOf(call, message));
        open.set(call.id, part);
        parts.push(part);
      }
    }
  }
  return parts;
}

function stepParts(message: Message, options: ExportOptions): JsonObject[] {
  const legacy = message.reasoning ? undefined : message.reasoningContent;
  const content: ContentPart[] = [
    ...(legacy ? [{ type: 'reasoning' as const, reasoning: { text: legacy } }] : []),
    ...contentPartsOf(message),
  ];
  const parts = content.flatMap((part) => uiPart(part, message, options));
  const last = parts.findLast((part) => part['type'] === 'text' || part['type'] === 'reasoning');
  if (message.status && last) last['state'] = 'streaming'; // as the SDK stores an answer that was cut off
  return parts;
}

function uiPart(part: ContentPart, message: Message, options: ExportOptions): JsonObject[] {
  if (part.type === 'text') {
    return [
      {
        type: 'text',
        text: part.text,
        ...metadata('providerMetadata', textMetadataOf(part, message.origin)),
      },
    ];
  }
  if (part.type === 'reasoning') {
    const signed = reasoningMetadataOf(part.reasoning, message.origin);
    if (part.reasoning.text === null && !signed) return [];
    return [{ type: 'reasoning', text: part.reasoning.text ?? '', ...metadata('providerMetadata', signed) }];
  }
  const embedded = embed(part.media, options);
  if (!embedded) return [{ type: 'text', text: missingText(part.media) }];
  const { name } = part.media;
  return [
    {
      type: 'file',
      mediaType: embedded.mime,
      url: embedded.url,
      ...(name === undefined ? {} : { filename: name }),
    },
  ];
}

function toolPart(name: string, id: string, input: JsonValue, options?: JsonObject): JsonObject {
  return {
    type: `tool-${name}`,
    toolCallId: id,
    state: 'input-available',
    input,
    ...metadata('callProviderMetadata', options),
  };
}

/** The part of the call was created in this group, so it may be changed. */
function addResult(message: Message, parts: JsonObject[], open: Map<string, JsonObject>): void {
  const result = toolResultOf(message);
  if (!result) return;
  let part = open.get(result.toolCallId);
  open.delete(result.toolCallId);
  if (!part) {
    part = toolPart(result.toolName, result.toolCallId, {});
    parts.push({ type: 'step-start' }, part);
  }
  if (result.toolError !== null) Object.assign(part, { state: 'output-error', errorText: result.toolError });
  else Object.assign(part, { state: 'output-available', output: outputOf(message, result.toolResult) });
}

/** The image cannot be stored in the result, so a text says that there was one. */
function outputOf(message: Message, result: JsonValue): JsonValue {
  const notes = (message.parts ?? []).flatMap((part) =>
    part.type === 'media' ? [`[${part.media.kind}]`] : [],
  );
  if (notes.length === 0 || (result !== null && typeof result !== 'string')) return result;
  return [...(result === null || result === '' ? [] : [result]), ...notes].join('\n');
}

function metadata(key: string, value: JsonObject | undefined): JsonObject {
  return value === undefined ? {} : { [key]: value };
}
