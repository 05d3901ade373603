/** Messages of a pi session as neutral messages. What the tool itself tells the model as the user keeps the user role. */
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { ContentPart, Message, Origin, ToolCallSpec } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { assistantContentOf, contentOf } from '../reading/content-parts.js';
import { idText, textField } from '../reading/record-fields.js';
import { piBlocks, piCall, piOrigin, piReasoning, piResultContent, piTextOrImage } from './pi-parts.js';

/** Null for anything but a message of the conversation, which is counted as a loss. */
export function piMessageOf(
  json: JsonObject,
  origin: Origin | undefined,
  losses: LossAccount,
  place: string,
): Message | null {
  switch (json['role']) {
    case 'user':
      return { role: 'user', ...contentOf(textsAndImages(json, losses, place)) };
    case 'system':
      return { role: 'system', ...contentOf(textsAndImages(json, losses, place)) };
    case 'assistant':
      return assistantOf(json, piOrigin(json, origin), losses, place);
    case 'toolResult':
      return resultOf(json, losses, place);
    case 'bashExecution':
      return shellCommandOf(json, losses, place);
    case 'custom':
    case 'hookMessage':
      losses.approximate('message of an extension, as one of the user', place);
      return { role: 'user', ...contentOf(textsAndImages(json, losses, place)) };
    case 'branchSummary':
    case 'compactionSummary':
      return piSummaryTold(json, losses, place);
    default:
      losses.drop('message of an unknown role', place);
      return null;
  }
}

/** Null for a blank summary. */
export function piSummaryOf(json: JsonObject, losses: LossAccount, place: string): Message | null {
  const summary = textField(json, 'summary');
  if (summary !== undefined && summary.trim() !== '')
    return { role: 'user', content: summary, kind: 'memory' };
  losses.drop('summary without a text', place);
  return null;
}

/**
 * A summary of what the branch does not contain. It is an ordinary message and not a memory, which a later compaction
 * would replace.
 */
export function piSummaryTold(json: JsonObject, losses: LossAccount, place: string): Message | null {
  const summary = piSummaryOf(json, losses, place);
  if (summary) losses.approximate('summary of a branch, as a message of the user', place);
  return summary && { role: 'user', content: summary.content };
}

function textsAndImages(json: JsonObject, losses: LossAccount, place: string): ContentPart[] {
  return piBlocks(json['content']).flatMap((block) => {
    const part = isJsonObject(block) ? piTextOrImage(block) : undefined;
    if (!part) losses.drop('content of an unknown kind', place);
    return part ?? [];
  });
}

function statusOf(json: JsonObject): Pick<Message, 'status'> {
  if (json['stopReason'] === 'aborted') return { status: 'aborted' };
  return json['stopReason'] === 'error' ? { status: 'failed' } : {};
}

function assistantOf(
  json: JsonObject,
  origin: Origin | undefined,
  losses: LossAccount,
  place: string,
): Message {
  const status = statusOf(json);
  const parts: ContentPart[] = [];
  const toolCalls: ToolCallSpec[] = [];
  for (const block of piBlocks(json['content'])) {
    const part = isJsonObject(block) ? assistantPartOf(block, json, origin) : undefined;
    if (part) parts.push(part);
    else if (isJsonObject(block) && block['type'] === 'toolCall')
      toolCalls.push(piCall(block, status.status !== undefined, losses, place));
    else losses.drop('content of an unknown kind', place);
  }
  if (json['usage'] !== undefined) losses.drop('token counts of an answer', place);
  if (textField(json, 'errorMessage')) losses.drop('error message of an answer that was cut off', place);
  const messageId = textField(json, 'responseId');
  return {
    role: 'assistant',
    ...assistantContentOf(parts),
    ...(toolCalls.length > 0 ? { toolPayload: { toolCalls } } : {}),
    ...(origin === undefined ? {} : { origin }),
    ...(messageId === undefined ? {} : { messageId }),
    ...status,
  };
}

function assistantPartOf(
  block: JsonObject,
  message: JsonObject,
  origin: Origin | undefined,
): ContentPart | undefined {
  if (block['type'] !== 'thinking') return piTextOrImage(block, origin);
  return { type: 'reasoning', reasoning: piReasoning(block, textField(message, 'api') ?? '', origin) };
}

function resultOf(json: JsonObject, losses: LossAccount, place: string): Message {
  const { text, parts } = piResultContent(json, losses, place);
  if (json['details'] !== undefined) losses.drop('details of a tool result, for display', place);
  const failure = text.trim() === '' ? 'The tool failed without a message.' : text;
  const failed = json['isError'] === true;
  return {
    role: 'tool',
    content: null,
    ...(parts.length > 0 ? { parts } : {}),
    toolPayload: {
      toolCallId: idText(json['toolCallId']),
      toolName: textField(json, 'toolName') ?? '',
      toolResult: failed ? null : text,
      toolError: failed ? failure : null,
    },
  };
}

/** A command that the user ran outside the conversation. pi reports it to the model in words too. */
function shellCommandOf(json: JsonObject, losses: LossAccount, place: string): Message | null {
  if (json['excludeFromContext'] === true) {
    losses.drop('shell command that the user kept from the model', place);
    return null;
  }
  losses.approximate('shell command of the user, in words', place);
  const { exitCode } = json;
  const outcome = json['cancelled'] === true ? 'cancelled' : `exit code ${exitCode ?? 'unknown'}`;
  const output = textField(json, 'output') ?? '';
  const command = textField(json, 'command') ?? '';
  return { role: 'user', content: `I ran a shell command (${outcome}):\n$ ${command}\n${output}`.trimEnd() };
}
