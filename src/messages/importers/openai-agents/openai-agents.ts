/**
 * A RunState of the OpenAI Agents SDK, from Python or JavaScript: the input of the run, then its generated items. The
 * model responses repeat these items, so they supply only ids, and items that the run has not added yet.
 */
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import type { Message } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { sliceJson } from '../reading/json-slices.js';
import { keepMessage } from '../reading/keep-message.js';
import { idText } from '../reading/record-fields.js';
import type { TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { AgentsConversation } from './agents-conversation.js';
import { AGENTS_KEYS, isOneOf, readAgentsHeader } from './agents-header.js';
import { identityOf, rawItemOf } from './agents-item.js';

export const openAiAgentsImporter: TranscriptImporter = {
  format: 'openai-agents',
  title: 'OpenAI Agents run state',
  lookedFor: '`$schemaVersion`, as the RunState of the OpenAI Agents SDK begins',
  recognises: (head) => head.shape === 'object' && head.keys.has('$schemaVersion'),
  read,
};

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  for await (const message of messagesOf(source, losses)) {
    keepMessage(message, losses);
    yield { kind: 'message', message };
  }
}

async function* messagesOf(source: TranscriptSource, losses: LossAccount): AsyncGenerator<Message> {
  const { responses, lastOutput } = await readAgentsHeader(source, losses);
  const conversation = new AgentsConversation(responses, losses);
  for await (const { json, place } of itemsAt(source, AGENTS_KEYS.input, losses))
    yield* conversation.add(json, place);
  yield* conversation.end();
  const missing = new Map(lastOutput);
  for await (const { json, place } of itemsAt(source, AGENTS_KEYS.generated, losses)) {
    const item = rawItemOf(json);
    missing.delete(identityOf(item));
    if (json['type'] === 'tool_approval_item') conversation.waits(item, place);
    else yield* conversation.add(item, place);
  }
  yield* addMissing(conversation, missing, lastOutput.size, losses);
  for await (const { json, place } of itemsAt(source, AGENTS_KEYS.pending, losses))
    yield* conversation.add(json, place);
  yield* conversation.end();
  await noteInterruptions(source, conversation, losses);
  conversation.accountForWaiting();
}

/**
 * If the run holds no item of an answer, it stopped before it added the answer. If the run holds part of the answer, or
 * has handed over to another agent, the rest was left out on purpose.
 */
function* addMissing(
  conversation: AgentsConversation,
  missing: ReadonlyMap<string, JsonObject>,
  size: number,
  losses: LossAccount,
): Generator<Message> {
  const isUntouched = missing.size === size && ![...missing.values()].some(isHandoff);
  for (const item of missing.values()) {
    if (isUntouched) yield* conversation.add(item, 'modelResponses');
    else losses.drop('an output of the model that the run left out', 'modelResponses');
  }
}

function isHandoff(item: JsonObject): boolean {
  return idText(item['name']).startsWith('transfer_to_');
}

interface PlacedItem {
  readonly json: JsonObject;
  readonly place: string;
}

/** A text is a user message. */
async function* itemsAt(
  source: TranscriptSource,
  keys: readonly string[],
  losses: LossAccount,
): AsyncGenerator<PlacedItem> {
  const slices = sliceJson(source.chunks(), ([first, index]) => {
    if (first === undefined) return 'enter';
    if (!isOneOf(String(first), keys)) return 'skip';
    return index === undefined ? 'enter' : 'take';
  });
  for await (const { path, value } of slices) {
    if (value === null) continue;
    losses.record();
    const place = path.join('/');
    if (path.length === 1 && typeof value === 'string')
      yield { json: { role: 'user', content: value }, place };
    else if (typeof path[1] === 'number' && isJsonObject(value)) yield { json: value, place };
    else losses.drop('an item that is not an object', place);
  }
}

/** The requests for approval at which the run stopped, including those listed nowhere else. */
async function noteInterruptions(
  source: TranscriptSource,
  conversation: AgentsConversation,
  losses: LossAccount,
): Promise<void> {
  const slices = sliceJson(source.chunks(), ([first, second, third, index]) => {
    if (first === undefined) return 'enter';
    if (!isOneOf(String(first), ['currentStep', 'current_step'])) return 'skip';
    if (second === undefined || (second === 'data' && third === undefined)) return 'enter';
    if (third !== 'interruptions') return 'skip';
    return index === undefined ? 'enter' : 'take';
  });
  for await (const { path, value } of slices) {
    if (path.length !== 4 || !isJsonObject(value)) continue;
    losses.record();
    conversation.waits(rawItemOf(value), path.join('/'));
  }
}
