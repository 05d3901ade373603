/** Messages as the Anthropic API reads them: consecutive messages of one role form one turn, and a text is a block. */
import { isJsonObject } from '../../../core/json.js';
import { fieldOf, isBlank, quote, type Report } from './request-check.js';

export interface PlacedBlock {
  readonly block: unknown;
  readonly type: string;
  readonly path: string;
  /** Index of the message that contains it. */
  readonly message: number;
}

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly path: string;
  readonly blocks: PlacedBlock[];
}

/** Reports why a message cannot be part of a turn: its role, its content, or because it is empty. */
export function anthropicTurns(
  messages: readonly unknown[],
  systemInMessages: boolean,
  report: Report,
): readonly Turn[] {
  const turns: Turn[] = [];
  messages.forEach((message, i) => {
    const path = `messages/${i}`;
    const role = roleOf(message, path, systemInMessages, report);
    const mayBeEmpty = role === 'assistant' && i === messages.length - 1;
    const blocks = blocksOf(message, i, mayBeEmpty, report);
    if (role === null) return;
    const last = turns.at(-1);
    if (last?.role !== role) turns.push({ role, path, blocks });
    // One by one: there may be more blocks than a call can have arguments.
    else for (const placed of blocks) last.blocks.push(placed);
  });
  return turns;
}

function roleOf(
  message: unknown,
  path: string,
  systemInMessages: boolean,
  report: Report,
): Turn['role'] | null {
  const role = fieldOf(message, 'role');
  if (role === 'user' || role === 'assistant') return role;
  if (!(role === 'system' && systemInMessages)) {
    report('anthropic/3.1', `${path}/role`, `The role ${quote(role)} is neither user nor assistant.`);
  }
  return null;
}

function blocksOf(message: unknown, index: number, mayBeEmpty: boolean, report: Report): PlacedBlock[] {
  const content = fieldOf(message, 'content');
  const path = `messages/${index}/content`;
  if (typeof content === 'string') {
    if (content === '' && mayBeEmpty) return [];
    if (isBlank(content)) report('anthropic/3.9', path, 'The message is blank.');
    // Blank content is reported here, once.
    return isBlank(content)
      ? []
      : [{ block: { type: 'text', text: content }, type: 'text', path, message: index }];
  }
  if (!Array.isArray(content)) {
    report('anthropic/3.0', path, 'The content is neither a text nor a list of blocks.');
    return [];
  }
  if (content.length === 0 && !mayBeEmpty) report('anthropic/3.9', path, 'The message has no blocks.');
  return content.flatMap((block: unknown, i): PlacedBlock[] => {
    const type = fieldOf(block, 'type');
    const place = `${path}/${i}`;
    if (isJsonObject(block) && typeof type === 'string')
      return [{ block, type, path: place, message: index }];
    report('anthropic/3.0', place, 'The block has no type.');
    return [];
  });
}
