/** One request of an editor's chat: the prompt, the rounds of the model with their calls, and the results of the calls. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../core/json.js';
import type { Message, Origin, ToolCallSpec } from '../../message.js';
import { copilotOrigin } from '../copilot-cli/copilot-events.js';
import type { LossAccount } from '../loss-account.js';
import { argumentsFrom } from '../reading/open-calls.js';
import { idText, listField, objectField, textField } from '../reading/record-fields.js';
import { shownText, textOfContent } from './chat-text.js';

export function messagesOfRequest(request: JsonObject, losses: LossAccount, place: string): Message[] {
  const metadata = objectField(objectField(request, 'result'), 'metadata');
  const rounds = listField(metadata, 'toolCallRounds').filter(isJsonObject);
  const prompt: Message = { role: 'user', content: promptOf(request, metadata, losses, place) };
  const model = textField(request, 'modelId')?.replace(/^copilot\//, '');
  const origin = copilotOrigin(model);
  const answers =
    rounds.length > 0
      ? rounds.flatMap((round) => messagesOfRound(round, metadata, origin, losses, place))
      : shownAnswer(request, origin, losses, place);
  return [prompt, ...withStatus(answers, statusOf(request))];
}

/** The prompt as the model was sent it, with attachments, if the log has it; else as it was typed. */
function promptOf(request: JsonObject, metadata: JsonObject, losses: LossAccount, place: string): string {
  const typed = textField(objectField(request, 'message'), 'text') ?? textField(request, 'message') ?? '';
  const sent = listField(metadata, 'renderedUserMessage')
    .flatMap((part) => (isJsonObject(part) ? (textField(part, 'text') ?? []) : []))
    .join('\n');
  if (listField(metadata, 'renderedGlobalContext').length > 0)
    losses.drop('description of the workspace', place);
  if (sent.includes(typed) && sent.trim() !== '') return sent;
  for (const _ of listField(objectField(request, 'variableData'), 'variables'))
    losses.drop('attachment of a prompt', place);
  return typed;
}

function messagesOfRound(
  round: JsonObject,
  metadata: JsonObject,
  origin: Origin,
  losses: LossAccount,
  place: string,
): Message[] {
  const toolCalls = listField(round, 'toolCalls').filter(isJsonObject).map(callOf);
  const text = textField(round, 'response') ?? '';
  const thought = thoughtOf(objectField(round, 'thinking'));
  const answer: Message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(thought === null ? {} : { reasoning: [{ ...thought, origin }] }),
    ...(toolCalls.length > 0 ? { toolPayload: { toolCalls } } : {}),
    origin,
  };
  const results = objectField(metadata, 'toolCallResults');
  return [answer, ...toolCalls.flatMap((call) => resultOf(call, results, losses, place))];
}

function callOf(call: JsonObject): ToolCallSpec {
  return {
    id: idText(call['id']),
    name: textField(call, 'name') ?? '',
    ...argumentsFrom(call['arguments']),
  };
}

function thoughtOf(thinking: JsonObject): { text: string | null; encrypted?: string; id?: string } | null {
  const given = thinking['text'];
  const texts = Array.isArray(given) ? given.filter((text) => typeof text === 'string') : [];
  const text = typeof given === 'string' ? given : texts.length > 0 ? texts.join('') : null;
  const encrypted = textField(thinking, 'encrypted');
  const id = textField(thinking, 'id');
  if (text === null && encrypted === undefined) return null;
  return {
    text,
    ...(encrypted === undefined ? {} : { encrypted }),
    ...(id === undefined || id === '' ? {} : { id }),
  };
}

/** None for a call that was stopped. */
function resultOf(call: ToolCallSpec, results: JsonObject, losses: LossAccount, place: string): Message[] {
  const result = Object.hasOwn(results, call.id) ? results[call.id] : undefined;
  if (!isJsonObject(result)) return [];
  const texts: string[] = [];
  for (const part of listField(result, 'content')) {
    const text = textOfContent(isJsonObject(part) ? part['value'] : part);
    if (text === null) losses.drop('content of a tool result other than text', place);
    else texts.push(text);
  }
  return [
    {
      role: 'tool',
      content: null,
      toolPayload: {
        toolCallId: call.id,
        toolName: call.name,
        toolResult: texts.join('\n'),
        toolError: null,
      },
    },
  ];
}

/** Without rounds, the answer is what was shown. Calls are shown without their arguments. */
function shownAnswer(request: JsonObject, origin: Origin, losses: LossAccount, place: string): Message[] {
  const pieces: JsonValue[] = [...listField(request, 'response')];
  const texts = pieces.flatMap((piece) => {
    const text = shownText(piece);
    const isCall = isJsonObject(piece) && piece['kind'] === 'toolInvocationSerialized';
    if (isCall) losses.drop('call that is only shown, without its arguments', place);
    else if (text === null) losses.drop('piece of an answer, for display', place);
    return text ?? [];
  });
  if (texts.length === 0) return [];
  losses.approximate('answer as it was shown', place);
  return [{ role: 'assistant', content: texts.join(''), origin }];
}

function statusOf(request: JsonObject): Message['status'] {
  if (request['isCanceled'] === true) return 'aborted';
  return isJsonObject(objectField(request, 'result')['errorDetails']) ? 'failed' : undefined;
}

/** Marks the last answer: the earlier ones were complete. */
function withStatus(messages: readonly Message[], status: Message['status']): Message[] {
  const at = status === undefined ? -1 : messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.map((message, index) => (index === at && status ? { ...message, status } : message));
}
