/** Checks the blocks of an Anthropic request one by one: allowed in their role, with the right fields, and not blank. */
import type { PlacedBlock, Turn } from './anthropic-turns.js';
import { fieldOf, isBlank, isFilledText, isPlainObject, quote, type Report } from './request-check.js';

const ID = /^[a-zA-Z0-9_-]{1,64}$/;
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const OF_ASSISTANT = new Set(['tool_use', 'thinking', 'redacted_thinking', 'server_tool_use', 'compaction']);
const OF_USER = new Set(['tool_result', 'document', 'search_result']);

export function checkAnthropicBlocks(turns: readonly Turn[], report: Report): void {
  for (const { role, blocks } of turns) {
    const foreign = role === 'user' ? OF_ASSISTANT : OF_USER;
    for (const placed of blocks) {
      if (foreign.has(placed.type)) {
        report(
          'anthropic/3.0',
          placed.path,
          `A ${placed.type} block may not be in a message of the ${role}.`,
        );
      } else checkBlock(placed, report);
    }
  }
  checkCallIds(turns, report);
}

function checkBlock({ block, type, path }: PlacedBlock, report: Report): void {
  switch (type) {
    case 'text':
      checkTextBlock(block, path, report);
      return;
    case 'tool_use':
      checkCall(block, path, report);
      return;
    case 'tool_result':
      checkResult(block, path, report);
      return;
    case 'thinking':
      if (typeof fieldOf(block, 'thinking') !== 'string') {
        report('anthropic/3.0', path, 'The thinking block has no text.');
      }
      if (!isFilledText(fieldOf(block, 'signature'))) {
        report('anthropic/3.14', `${path}/signature`, 'The thinking block has no signature.');
      }
      return;
    case 'redacted_thinking':
      if (isFilledText(fieldOf(block, 'data'))) return;
      report('anthropic/3.13', `${path}/data`, 'The redacted thinking block has no data.');
  }
}

function checkTextBlock(block: unknown, path: string, report: Report): void {
  const text = fieldOf(block, 'text');
  if (typeof text !== 'string') report('anthropic/3.0', path, 'The text block has no text.');
  else if (isBlank(text)) report('anthropic/3.9', `${path}/text`, 'The text block is blank.');
}

function checkCall(block: unknown, path: string, report: Report): void {
  const name = fieldOf(block, 'name');
  if (typeof name !== 'string' || !NAME.test(name)) {
    report('anthropic/3.18', `${path}/name`, `The tool name ${quote(name)} is not one.`);
  }
  if (!isPlainObject(fieldOf(block, 'input'))) {
    report('anthropic/3.6', `${path}/input`, 'The input of the call is not an object.');
  }
}

function checkResult(block: unknown, path: string, report: Report): void {
  const content = fieldOf(block, 'content') ?? '';
  if (fieldOf(block, 'is_error') === true && (content === '' || isEmptyList(content))) {
    report('anthropic/3.9', `${path}/content`, 'The content of an error is empty.');
  }
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) {
    report('anthropic/3.0', `${path}/content`, 'The content is neither a text nor a list of blocks.');
    return;
  }
  content.forEach((inner: unknown, i) => {
    const place = `${path}/content/${i}`;
    const type = fieldOf(inner, 'type');
    if (type === 'text') checkTextBlock(inner, place, report);
    else if (typeof type !== 'string' || OF_ASSISTANT.has(type) || type === 'tool_result') {
      report('anthropic/3.0', place, `A block of type ${quote(type)} may not be in a result.`);
    }
  });
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function checkCallIds(turns: readonly Turn[], report: Report): void {
  const seen = new Set<string>();
  for (const { blocks } of turns) {
    for (const { block, type, path } of blocks) {
      if (type !== 'tool_use' && type !== 'server_tool_use') continue;
      const id = fieldOf(block, 'id');
      if (typeof id !== 'string' || !ID.test(id)) {
        const reason = `The call id ${quote(id)} is not made of 1 to 64 letters, digits, underscores or hyphens.`;
        report('anthropic/3.5', `${path}/id`, reason);
      } else if (seen.has(id))
        report('anthropic/3.5', `${path}/id`, `The call id ${quote(id)} is not unique.`);
      else seen.add(id);
    }
  }
}
