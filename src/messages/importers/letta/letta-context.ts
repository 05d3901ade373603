/** The messages of a Letta agent's context, in context order: streamed if the file has that order, else read one by one. */
import type { JsonValue } from '../../../core/json.js';
import type { LossAccount } from '../loss-account.js';
import { sliceJson } from '../reading/json-slices.js';
import { valueAt } from '../reading/value-at.js';
import type { TranscriptSource } from '../transcript.js';
import { keyOfMessage, type LettaAgent } from './letta-outline.js';

export interface StoredMessage {
  readonly json: JsonValue;
  readonly place: string;
}

interface Located extends StoredMessage {
  readonly key: number;
  readonly start: number;
}

export async function* contextOf(
  source: TranscriptSource,
  agent: LettaAgent,
  losses: LossAccount,
): AsyncGenerator<StoredMessage> {
  if (agent.context.length === 0) yield* everyMessage(source, agent, losses);
  else if (await isInOrder(source, agent)) yield* streamed(source, agent, losses);
  else yield* oneByOne(source, agent, losses);
}

async function* everyMessage(source: TranscriptSource, agent: LettaAgent, losses: LossAccount) {
  if (agent.hasMessages)
    losses.approximate('a list of messages that does not say which are in the context', agent.path);
  for await (const message of messagesOf(source, agent)) {
    losses.record();
    yield message;
  }
}

async function isInOrder(source: TranscriptSource, { context, ...agent }: LettaAgent): Promise<boolean> {
  let next = 0;
  for await (const { key } of messagesOf(source, agent)) if (key === context.at(next)) next += 1;
  return next === context.length;
}

async function* streamed(source: TranscriptSource, agent: LettaAgent, losses: LossAccount) {
  let next = 0;
  for await (const message of messagesOf(source, agent)) {
    losses.record();
    if (message.key === agent.context.at(next)) {
      next += 1;
      yield message;
    } else losses.drop('a message outside of the context', message.place);
  }
}

async function* oneByOne(source: TranscriptSource, agent: LettaAgent, losses: LossAccount) {
  const starts = await startsOf(source, agent, losses);
  for (let at = 0; at < agent.context.length; at += 1) {
    const found = starts.get(agent.context.at(at));
    if (found === undefined)
      losses.drop('a message of the context that the file does not have', `context/${at}`);
    else yield { json: (await valueAt(source, found.start)) ?? null, place: found.place };
  }
}

async function startsOf(source: TranscriptSource, agent: LettaAgent, losses: LossAccount) {
  const wanted = new Set<number>();
  for (let at = 0; at < agent.context.length; at += 1) wanted.add(agent.context.at(at));
  const starts = new Map<number, { readonly start: number; readonly place: string }>();
  for await (const { key, start, place } of messagesOf(source, agent)) {
    losses.record();
    if (wanted.has(key) && !starts.has(key)) starts.set(key, { start, place });
    else losses.drop('a message outside of the context', place);
  }
  return starts;
}

async function* messagesOf(
  source: TranscriptSource,
  { path: agentPath }: Pick<LettaAgent, 'path'>,
): AsyncGenerator<Located> {
  const list = agentPath === '' ? 'messages' : `${agentPath}/messages`;
  const slices = sliceJson(source.chunks(), (path) => {
    const name = path.join('/');
    if (name === '' || name === list || list.startsWith(`${name}/`)) return 'enter';
    return name.startsWith(`${list}/`) ? 'take' : 'skip';
  });
  for await (const { path, value, start } of slices) {
    const index = path.at(-1);
    if (typeof index === 'number')
      yield { json: value, place: `messages/${index}`, key: keyOfMessage(value, index), start };
  }
}
