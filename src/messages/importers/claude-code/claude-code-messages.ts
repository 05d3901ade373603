/** Reads messages from the records of a Claude Code session. */
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { type Message, type Origin, textOf } from '../../message.js';
import { answerFromBlocks, blocksOf, userMessagesFrom } from '../anthropic/anthropic-blocks.js';
import type { LossAccount } from '../loss-account.js';
import type { OpenCalls } from '../reading/open-calls.js';
import { idText, objectField, originOfModel, textField } from '../reading/record-fields.js';
import { contentOf, kindOf, queuedPromptOf, RECORD_KIND } from './claude-code-record.js';

export interface PlacedRecord {
  readonly record: JsonObject;
  /** `line 12`. */
  readonly place: string;
}

/** All lines of one answer. */
export function answerFromRecords(
  lines: readonly PlacedRecord[],
  openCalls: OpenCalls,
  losses: LossAccount,
): Message {
  const blocks = lines.flatMap(({ record, place }) => blocksOf(contentOf(record), place));
  const first = lines[0]?.record ?? {};
  const messageId = idText(objectField(first, 'message')['id']);
  const origin = originOf(first);
  const place = lines[0]?.place ?? '';
  if (!origin) losses.approximate('answer of a model that is not named', place);
  if (isJsonObject(objectField(first, 'message')['usage'])) losses.drop('token counts of an answer', place);
  const isCut = lines.some(({ record }) => record['isAbortedMidStream'] === true);
  const message = {
    ...answerFromBlocks(blocks, origin, losses),
    ...(messageId === '' ? {} : { messageId }),
    ...(isCut ? { status: 'aborted' as const } : {}),
  };
  openCalls.called(message);
  return message;
}

/** The tool writes some answers itself; they have no model. */
function originOf(record: JsonObject): Origin | undefined {
  const model = textField(objectField(record, 'message'), 'model');
  if (model === undefined || model === '' || model === '<synthetic>') return undefined;
  return originOfModel(model).origin ?? { provider: 'anthropic', model };
}

/** Results of tools, then the user's text, including what the tool added to it: the model saw it that way. */
export function userMessagesFromRecord(
  { record, place }: PlacedRecord,
  openCalls: OpenCalls,
  losses: LossAccount,
): Message[] {
  if ('toolUseResult' in record) losses.drop('copy of a tool result for display', place);
  return userMessagesFrom(contentOf(record), place, openCalls, losses);
}

/** A prompt that came in the middle of a turn, from an attachment or the queue. */
export function queuedPromptFrom(
  { record, place }: PlacedRecord,
  openCalls: OpenCalls,
  losses: LossAccount,
): Message[] {
  losses.approximate('prompt delivered in the middle of a turn, placed as a message of its own', place);
  return userMessagesFrom(queuedPromptOf(record) ?? record['content'], place, openCalls, losses);
}

export function summaryFrom(
  { record, place }: PlacedRecord,
  openCalls: OpenCalls,
  losses: LossAccount,
): Message {
  const messages = userMessagesFrom(contentOf(record), place, openCalls, losses);
  return { role: 'user', content: messages.map(textOf).join('\n'), kind: 'memory' };
}

/** Records that a compaction kept, in order. All lines of an answer are joined at the first one. */
export function keptMessages(
  records: readonly PlacedRecord[],
  openCalls: OpenCalls,
  losses: LossAccount,
): Message[] {
  const answers = new Map<string, PlacedRecord[]>();
  const steps: PlacedRecord[][] = [];
  for (const placed of records) {
    const id = idText(objectField(placed.record, 'message')['id']);
    const known = id === '' ? undefined : answers.get(id);
    const step = known ?? [];
    step.push(placed);
    if (!known) steps.push(step);
    if (id !== '') answers.set(id, step);
  }
  return steps.flatMap((step) => keptStep(step, openCalls, losses));
}

function keptStep(step: readonly PlacedRecord[], openCalls: OpenCalls, losses: LossAccount): Message[] {
  const first = step[0]!;
  const kind = kindOf(first.record);
  if (kind === RECORD_KIND.answer) return [answerFromRecords(step, openCalls, losses)];
  if (kind === RECORD_KIND.queuedPrompt) return queuedPromptFrom(first, openCalls, losses);
  const isUser = kind === RECORD_KIND.prompt || kind === RECORD_KIND.results;
  return isUser ? userMessagesFromRecord(first, openCalls, losses) : [];
}

/** The text that the tool writes when the user stops an answer. */
export function isInterrupt(message: Message): boolean {
  return message.role === 'user' && textOf(message).trim() === '[Request interrupted by user]';
}
