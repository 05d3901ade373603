/** Records what a message carried over: itself, its calls, its reasoning and its media. */
import { type Message, toolCallsOf } from '../../message.js';
import type { LossAccount } from '../loss-account.js';

const KINDS: ReadonlyMap<string, string> = new Map([
  ['system', 'system message'],
  ['user', 'user message'],
  ['assistant', 'assistant message'],
  ['tool', 'tool result'],
]);

export function keepMessage(message: Message, losses: LossAccount): void {
  const isSummary = message.kind === 'memory';
  losses.keep(isSummary ? 'summary' : (KINDS.get(message.role) ?? 'message of another role'));
  keepSome(losses, 'tool call', toolCallsOf(message).length);
  const parts = message.parts ?? [];
  const placed = parts.filter((part) => part.type === 'reasoning').length;
  const said = message.reasoningContent === undefined ? 0 : 1;
  keepSome(losses, 'reasoning', (message.reasoning?.length ?? 0) + placed + said);
  keepSome(losses, 'provider item', message.providerItems?.length ?? 0);
  for (const part of parts) if (part.type === 'media') losses.keep(part.media.kind);
}

function keepSome(losses: LossAccount, kind: string, count: number): void {
  if (count > 0) losses.keep(kind, count);
}
