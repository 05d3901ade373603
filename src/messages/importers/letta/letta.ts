/**
 * Letta (MemGPT) agent files: the context messages of the first agent with messages. Its memory blocks are part of its
 * system message, as the server wrote it. Nothing is assembled that the file does not contain.
 */
import { RekindleError } from '../../../core/errors.js';
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { type Message, textOf } from '../../message.js';
import type { LossAccount } from '../loss-account.js';
import { type JsonPath, type SliceChoice, sliceJson } from '../reading/json-slices.js';
import { keepMessage } from '../reading/keep-message.js';
import { listField, textField } from '../reading/record-fields.js';
import { timeOf } from '../reading/record-time.js';
import type { TranscriptHead, TranscriptImporter, TranscriptItem, TranscriptSource } from '../transcript.js';
import { contextOf } from './letta-context.js';
import { LettaReader } from './letta-message.js';
import { agentIn, type LettaAgent } from './letta-outline.js';

/** Lists next to the messages. Each member is reported as not carried over. */
const DEFINITIONS: ReadonlyMap<unknown, string> = new Map([
  ['tools', 'the definition of a tool'],
  ['tool_rules', 'a rule about tools'],
  ['files', 'a file of the agent'],
  ['sources', 'a data source of the agent'],
  ['groups', 'a group of agents'],
  ['mcp_servers', 'a tool server'],
]);
const BLOCK_LISTS: ReadonlySet<unknown> = new Set(['blocks', 'core_memory', 'memory_blocks']);

export const lettaImporter: TranscriptImporter = {
  format: 'letta',
  title: 'Letta agent files',
  lookedFor:
    '`agents` with `messages` and `in_context_message_ids`; in older files `agent_type`, `core_memory` and `messages`',
  recognises,
  read,
};

function recognises({ shape, keys, fields }: TranscriptHead): boolean {
  if (shape !== 'object') return false;
  if (keys.has('agent_type') && keys.has('core_memory')) return keys.has('messages');
  if (!keys.has('agents')) return false;
  const [agent] = listField(fields, 'agents');
  if (isJsonObject(agent)) return 'agent_type' in agent && ('messages' in agent || 'system' in agent);
  return keys.has('blocks') && keys.has('tools') && keys.has('sources');
}

async function* read(source: TranscriptSource, losses: LossAccount): AsyncGenerator<TranscriptItem> {
  const agent = await agentIn(source);
  if (!agent) throw invalid();
  const shown: string[] = [];
  for await (const item of conversationOf(source, agent, losses)) {
    if (item.message.role === 'system') shown.push(textOf(item.message));
    keepMessage(item.message, losses);
    yield item;
  }
  await accountForRest(source, agent, shown.slice(0, 1).join(), losses);
}

type MessageItem = Extract<TranscriptItem, { kind: 'message' }>;

async function* conversationOf(
  source: TranscriptSource,
  agent: LettaAgent,
  losses: LossAccount,
): AsyncGenerator<MessageItem> {
  const reader = new LettaReader(agent.settings, losses);
  let isFirst = true;
  for await (const { json, place } of contextOf(source, agent, losses)) {
    const ts = timeOf(isJsonObject(json) ? json['created_at'] : undefined);
    for (const message of reader.read(json, place)) {
      if (isFirst && message.role !== 'system') yield* systemPrompt(agent, losses);
      isFirst = false;
      yield { kind: 'message', message, ...ts };
    }
  }
  if (isFirst) yield* systemPrompt(agent, losses);
}

/** Only if the context does not start with the system message that was made from it. */
function* systemPrompt({ system, path }: LettaAgent, losses: LossAccount): Generator<MessageItem> {
  if (system === undefined) return;
  const place = path === '' ? 'system' : `${path}/system`;
  losses.approximate('the system prompt, without the memory that is put into it', place);
  const message: Message = { role: 'system', content: system };
  yield { kind: 'message', message };
}

async function accountForRest(
  source: TranscriptSource,
  agent: LettaAgent,
  shown: string,
  losses: LossAccount,
): Promise<void> {
  const slices = sliceJson(source.chunks(), (path) => restChoice(path, agent, losses));
  for await (const { path, value } of slices) {
    const place = path.join('/');
    const isBlock = BLOCK_LISTS.has(path.at(-2)) && isJsonObject(value);
    if (!isBlock) continue;
    losses.record();
    if (isShown(value, shown)) losses.approximate('a memory block, as its text in the system message', place);
    else losses.drop('a memory block that the system message does not show', place);
  }
}

function restChoice(path: JsonPath, agent: LettaAgent, losses: LossAccount): SliceChoice {
  const place = path.join('/');
  const list = path.at(-2);
  if (list === 'agents' && place !== agent.path) {
    losses.drop('another agent', place);
    return 'skip';
  }
  if (place === '' || place === 'agents' || place === agent.path) return 'enter';
  const isMember = typeof path.at(-1) === 'number';
  if (isMember && BLOCK_LISTS.has(list)) return 'take';
  const what = isMember ? DEFINITIONS.get(list) : undefined;
  if (what !== undefined) losses.drop(what, place);
  return !isMember && (DEFINITIONS.has(path.at(-1)) || BLOCK_LISTS.has(path.at(-1))) ? 'enter' : 'skip';
}

function isShown(block: JsonObject, shown: string): boolean {
  const value = textField(block, 'value')?.trim() ?? '';
  return value !== '' && shown.includes(value);
}

function invalid(): RekindleError {
  return new RekindleError('TRANSCRIPT_INVALID', 'The document contains no agent.', {
    details: { lookedFor: lettaImporter.lookedFor },
  });
}
