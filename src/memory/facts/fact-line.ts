/**
 * A fact in a memory message. A fact that is not the user's names its source, and its text is one JSON string, so that
 * it cannot be taken for the user's.
 */
import { quotedJson, quoteItem, quoteName } from '../compaction/quoted-text.js';
import type { SemanticItem } from '../models/memory-items.js';
import { originsOfItem } from './fact.js';
import { toolOf } from './fact-source.js';

/** Rows of older releases have no source; they are shown as before. */
export function factLine(item: SemanticItem): string {
  const { source = 'user' } = item;
  return source === 'user' ? quoteItem('- ', item.fact) : `- ${saidBy(item)}: ${quotedJson(item.fact)}`;
}

function saidBy(item: SemanticItem): string {
  switch (item.source) {
    case 'tool':
      return fromTools(originsOfItem(item));
    case 'import':
      return 'From an import';
    default:
      return 'The agent noted';
  }
}

function fromTools(origins: readonly string[]): string {
  const tools = origins.map(toolOf).filter((name) => name !== null);
  return tools.length === 1 ? `From the tool ${quoteName(tools[0]!)}` : 'From tools';
}
