/** Trajectories in the Agent Trajectory Interchange Format (ATIF), version 1: steps of a system, a user and an agent. */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { Message } from '../../message.js';
import { headOf } from '../detect-format.js';
import type { LossAccount } from '../loss-account.js';
import { ConversationOutline, memberNode } from '../reading/conversation-outline.js';
import { keepMessage } from '../reading/keep-message.js';
import { textOfBlock } from '../reading/opaque-blocks.js';
import { argumentsFrom, OpenCalls } from '../reading/open-calls.js';
import {
  idText,
  isAbsent,
  listField,
  objectField,
  originOfModel,
  textField,
} from '../reading/record-fields.js';
import { timeOf } from '../reading/record-time.js';
import type { TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';

const VERSION = /^ATIF-v(\d{1,9})/;
const NOTES = ['metrics', 'extra', 'reasoning_effort'];

export const atifImporter: TranscriptImporter = {
  format: 'atif',
  title: 'ATIF trajectories',
  lookedFor: '`schema_version` that begins with `ATIF-v`, and `steps`',
  recognises: ({ shape, keys, fields }) =>
    shape === 'object' && keys.has('steps') && VERSION.test(textField(fields, 'schema_version') ?? ''),
  read,
};

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  await checkVersion(source);
  const layout = { messages: 'steps', setting: 'agent', nodeOf: memberNode };
  const outline = await ConversationOutline.of(source, layout, losses);
  const agent = isJsonObject(outline.setting) ? outline.setting : {};
  const reader = new AtifReader(textField(agent, 'model_name'), losses);
  for await (const { json, place } of outline.messages(source))
    for (const message of reader.read(json, place)) {
      keepMessage(message, losses);
      yield { kind: 'message', message, ...timeOf(json['timestamp']) };
    }
}

async function checkVersion(source: TranscriptSource): Promise<void> {
  const version = textField((await headOf(source))?.fields ?? {}, 'schema_version') ?? '';
  if (Number(VERSION.exec(version)?.[1] ?? 1) <= 1) return;
  throw new RekindleError(
    'UNSUPPORTED_VERSION',
    `The trajectory has the version ${JSON.stringify(version)}.`,
    {
      details: { version, versionMax: 'ATIF-v1' },
    },
  );
}

class AtifReader {
  readonly #losses: LossAccount;
  readonly #model: string | undefined;
  readonly #calls = new OpenCalls();
  /** Ids of calls without a result, oldest first. */
  #open: string[] = [];

  constructor(model: string | undefined, losses: LossAccount) {
    this.#model = model;
    this.#losses = losses;
  }

  *read(step: JsonObject, place: string): Generator<Message> {
    if (NOTES.some((key) => !isAbsent(step[key])))
      this.#losses.drop('what the run recorded about a step', place);
    const said = this.#said(step, place);
    if (said) yield said;
    for (const [index, result] of listField(objectField(step, 'observation'), 'results').entries())
      yield* this.#result(result, `${place}/observation/${index}`);
  }

  #said(step: JsonObject, place: string): Message | null {
    const { source } = step;
    const text = this.#textOf(step['message'], place);
    if (source === 'agent') return this.#agent(step, text, place);
    if (source !== 'user' && source !== 'system') {
      this.#losses.drop('a step of an unknown source', place);
      return null;
    }
    if (text.trim() !== '') return { role: source, content: text };
    if (!isJsonObject(step['observation'])) this.#losses.drop('an empty message', place);
    return null;
  }

  #agent(step: JsonObject, text: string, place: string): Message | null {
    const toolCalls = listField(step, 'tool_calls')
      .filter(isJsonObject)
      .map((call, index) => ({
        id: idText(call['tool_call_id']) || `${place}/${index}`,
        name: idText(call['function_name']),
        ...argumentsFrom(call['arguments']),
      }));
    const reasoningContent = textField(step, 'reasoning_content') ?? '';
    if (text.trim() === '' && toolCalls.length === 0 && reasoningContent.trim() === '') {
      if (!isJsonObject(step['observation'])) this.#losses.drop('an empty message', place);
      return null;
    }
    const message: Message = {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(reasoningContent.trim() === '' ? {} : { reasoningContent }),
      ...(toolCalls.length > 0 ? { toolPayload: { toolCalls } } : {}),
      ...originOfModel(textField(step, 'model_name') ?? this.#model),
    };
    this.#calls.called(message);
    this.#open.push(...toolCalls.map(({ id }) => id));
    return message;
  }

  *#result(result: JsonValue, place: string): Generator<Message> {
    if (!isJsonObject(result)) {
      this.#losses.drop('an output that is not an object', place);
      return;
    }
    if (!isAbsent(result['subagent_trajectory_ref']))
      this.#losses.drop('the trajectory of a sub-agent', place);
    const text = this.#textOf(result['content'], place);
    const toolCallId = idText(result['source_call_id']) || (this.#open[0] ?? '');
    if (toolCallId === '') {
      if (text.trim() === '') return;
      this.#losses.approximate('an output without a call, as a message of the user', place);
      yield { role: 'user', content: text };
      return;
    }
    this.#open = this.#open.filter((id) => id !== toolCallId);
    const toolName = this.#calls.answered(toolCallId);
    yield {
      role: 'tool',
      content: null,
      toolPayload: { toolCallId, toolName, toolResult: text, toolError: null },
    };
  }

  /** A text, or parts. An image is a path to a file outside the trajectory. */
  #textOf(content: JsonValue | undefined, place: string): string {
    if (isAbsent(content)) return '';
    if (typeof content === 'string') return content;
    const parts = Array.isArray(content) ? content : [content];
    return parts.map((part) => this.#textOfPart(part, place)).join('\n');
  }

  #textOfPart(part: JsonValue, place: string): string {
    const text = isJsonObject(part) ? textField(part, 'text') : undefined;
    if (text !== undefined) return text;
    const path = isJsonObject(part) ? textField(objectField(part, 'source'), 'path') : undefined;
    if (path !== undefined) {
      this.#losses.approximate('an image in another file, as a line of text', place);
      return `[image: ${path}]`;
    }
    this.#losses.approximate('content of another type, as its text', place);
    return textOfBlock(part) ?? '';
  }
}
