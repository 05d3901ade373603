/** One OpenCode message with its parts: each step of an answer is one model response. */
import type { JsonObject } from '../../../core/json.js';
import type { Message, Origin } from '../../message.js';
import { textOf } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { keepMessage } from '../reading/keep-message.js';
import { isAbsent, listField, objectField, secondsOf, textField } from '../reading/record-fields.js';
import type { TranscriptItem } from '../transcript.js';
import { OpenCodeStep, type PlacedPart, userMessageOf } from './opencode-parts.js';

export function* openCodeItems(
  info: JsonObject,
  parts: readonly PlacedPart[],
  place: string,
  losses: LossAccount,
): Generator<TranscriptItem> {
  const time = secondsOf(objectField(info, 'time')['created']);
  const messages = messagesOf(info, parts, place, losses);
  const summary = isSummary(info) ? messages.map(textOf).join('') : '';
  if (summary.trim() !== '') {
    const message: Message = { role: 'user', content: summary, kind: 'memory' };
    keepMessage(message, losses);
    yield { kind: 'compaction', messages: [message], ...time };
    return;
  }
  for (const message of messages) {
    keepMessage(message, losses);
    yield { kind: 'message', message, ...time };
  }
}

/** The answer to a compaction: it replaces everything before it. */
function isSummary(info: JsonObject): boolean {
  return info['role'] === 'assistant' && info['summary'] === true && isAbsent(info['error']);
}

function messagesOf(
  info: JsonObject,
  parts: readonly PlacedPart[],
  place: string,
  losses: LossAccount,
): Message[] {
  if (info['role'] === 'assistant') {
    if (listField(info, 'system').length > 0) losses.drop('the system prompt of a request', place);
    return assistantMessages(info, parts, losses);
  }
  if (info['role'] === 'user') {
    const message = userMessageOf(parts, losses);
    return message ? [message] : [];
  }
  losses.drop('a message of an unknown role', place);
  return [];
}

function assistantMessages(info: JsonObject, parts: readonly PlacedPart[], losses: LossAccount): Message[] {
  const origin = originOf(info);
  let step = new OpenCodeStep(origin, losses);
  const steps = [step];
  for (const part of parts) {
    if (step.isOverBefore(part)) {
      step = new OpenCodeStep(origin, losses);
      steps.push(step);
    }
    step.add(part);
  }
  if (step.isEmpty && steps.length > 1) steps.pop();
  const id = textField(info, 'id');
  return steps.flatMap((each, index) =>
    each.messages({
      // An id belongs to one message, so steps after the first have none.
      ...(index === 0 && id !== undefined ? { messageId: id } : {}),
      ...(index === steps.length - 1 ? statusOf(info) : {}),
    }),
  );
}

function statusOf(info: JsonObject): Pick<Message, 'status'> {
  if (isAbsent(info['error'])) return {};
  const name = textField(objectField(info, 'error'), 'name') ?? '';
  return { status: /abort/i.test(name) ? 'aborted' : 'failed' };
}

function originOf(info: JsonObject): Origin | undefined {
  const chosen = objectField(info, 'model');
  const provider = textField(info, 'providerID') ?? textField(chosen, 'providerID');
  const model = textField(info, 'modelID') ?? textField(chosen, 'modelID');
  if (provider === undefined) return undefined;
  return { provider: FAMILIES.get(provider) ?? provider, ...(model === undefined ? {} : { model }) };
}

/** OpenCode's names for other ways to reach a provider. */
const FAMILIES: ReadonlyMap<string, string> = new Map([
  ['google-vertex', 'google'],
  ['google-vertex-anthropic', 'anthropic'],
  ['azure', 'openai'],
]);
