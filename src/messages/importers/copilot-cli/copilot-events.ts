/** Events of a Copilot session as messages: prompts, answers with their calls, and the outcomes of the calls. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import {
  isBlankText,
  type Message,
  type Origin,
  type ReasoningItem,
  type ToolCallSpec,
} from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { argumentsFrom } from '../reading/open-calls.js';
import { idText, isAbsent, listField, objectField, textField } from '../reading/record-fields.js';

/** The service accepts only the reasoning that it sent itself, whichever model made it. */
export function copilotOrigin(model: string | undefined): Origin {
  return { provider: 'github-copilot', ...(model === undefined ? {} : { model }) };
}

/** The prompt as the model was sent it, with the texts of attachments; else as it was typed. */
export function copilotPromptOf(data: JsonObject, losses: LossAccount, place: string): Message {
  const typed = textField(data, 'content') ?? '';
  const sent = textField(data, 'transformedContent');
  for (const _ of listField(data, 'attachments'))
    losses.drop('attachment, except its text in the prompt', place);
  return { role: 'user', content: sent === undefined || isBlankText(sent) ? typed : sent };
}

export interface CopilotAnswer {
  readonly data: JsonObject;
  readonly origin: Origin;
  /** Text of a separate event before the answer. */
  readonly thought: string | undefined;
}

export function copilotAnswerOf(
  { data, origin, thought }: CopilotAnswer,
  losses: LossAccount,
  place: string,
): Message {
  const requests = listField(data, 'toolRequests').filter(isJsonObject);
  const toolCalls = requests.map((request) => callOf(request, losses, place));
  const reasoning = reasoningOf(data, thought, origin, losses, place);
  const text = textField(data, 'content') ?? '';
  const messageId = textField(data, 'messageId');
  if (!isAbsent(data['outputTokens'])) losses.drop('token counts of an answer', place);
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(reasoning ? { reasoning: [reasoning] } : {}),
    ...(toolCalls.length > 0 ? { toolPayload: { toolCalls } } : {}),
    origin,
    ...(messageId === undefined ? {} : { messageId }),
  };
}

function callOf(request: JsonObject, losses: LossAccount, place: string): ToolCallSpec {
  if (!isAbsent(request['intentionSummary'])) losses.drop('summary of a call, for display', place);
  return {
    id: idText(request['toolCallId']),
    name: textField(request, 'name') ?? '',
    ...argumentsFrom(request['arguments']),
  };
}

function reasoningOf(
  data: JsonObject,
  thought: string | undefined,
  origin: Origin,
  losses: LossAccount,
  place: string,
): ReasoningItem | null {
  const text = textField(data, 'reasoningText') ?? thought ?? null;
  const opaque = textField(data, 'reasoningOpaque');
  const encrypted = textField(data, 'encryptedContent');
  if (opaque !== undefined && encrypted !== undefined)
    losses.drop('second encrypted form of reasoning', place);
  const kept = opaque ?? encrypted;
  if (text === null && kept === undefined) return null;
  return { text, ...(kept === undefined ? {} : { encrypted: kept }), origin };
}

const SILENT_FAILURE = 'The tool failed without a message.';

export function copilotResultOf(
  data: JsonObject,
  toolName: string,
  losses: LossAccount,
  place: string,
): Message {
  const result = objectField(data, 'result');
  const detailed = result['detailedContent'];
  if (!isAbsent(detailed) && detailed !== result['content'])
    losses.drop('details of a tool result, for display', place);
  const text = textOfResult(result['content'] ?? data['result']);
  const error = textField(objectField(data, 'error'), 'message') ?? textField(data, 'error') ?? text;
  const failed = data['success'] === false;
  return {
    role: 'tool',
    content: null,
    toolPayload: {
      toolCallId: idText(data['toolCallId']),
      toolName,
      toolResult: failed ? null : text,
      toolError: failed ? (isBlankText(error) ? SILENT_FAILURE : error) : null,
    },
  };
}

function textOfResult(content: JsonValue | undefined): string {
  return typeof content === 'string' ? content : '';
}
