/**
 * Builds the context of a new epoch: system message, one memory message, the raw tail as native messages.
 *
 * The memory message has the role `user`, so a list that starts with it is legal everywhere, and the mark `kind: memory`. It
 * is made anew from the items each time: a summary never wraps an older one. What the items say is quoted: it adds no section and no item.
 */
import { isOpening } from '../../messages/legality/h3-opens-with-user.js';
import type { Message } from '../../messages/message.js';
import { factLine } from '../facts/fact-line.js';
import { sourceOf } from '../facts/fact-source.js';
import type { EpisodicItem, MemoryBundle } from '../models/memory-items.js';
import { quotedJson, quoteItem, quoteText } from './quoted-text.js';

export class CompactionSnapshotBuilder {
  /** @param systemPrompt empty for none */
  build(systemPrompt: string, bundle: MemoryBundle, rawTail: readonly Message[]): Message[] {
    const messages: Message[] = systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }];
    const memory = memoryText(bundle);
    if (memory !== '') messages.push({ role: 'user', content: memory, kind: 'memory' });
    const tail = rawTail.filter((message) => message.role !== 'system' && message.kind !== 'memory');
    // The memory message opens the list: what stands in for an opening is needed no more.
    const isOpened = memory !== '' && tail[0] !== undefined && isOpening(tail[0]);
    for (const message of isOpened ? tail.slice(1) : tail) messages.push(message);
    return messages;
  }
}

/** The seed's text, without its digest of recent turns: those follow as messages. */
function memoryText(bundle: MemoryBundle): string {
  const sections: string[] = [];
  const episodic = bundle.episodic.filter((item) => item.summary.trim() !== '');
  const semantic = bundle.semantic.filter((item) => item.fact.trim() !== '');
  if (episodic.length > 0) {
    sections.push(
      [
        '[MEMORY:EPISODIC]',
        ...episodic.map((item, index) => quoteItem(`${index + 1}) `, item.summary, quoteOf(item))),
      ].join('\n'),
    );
  }
  if (semantic.length > 0) {
    sections.push(['[MEMORY:SEMANTIC]', ...semantic.map(factLine)].join('\n'));
  }
  return sections.join('\n\n');
}

/** What was written by somebody who had read tools or imports may repeat them: each of its lines is quoted. */
function quoteOf({ origins = [] }: EpisodicItem): (line: string) => string {
  const source = sourceOf(origins);
  return source === 'tool' || source === 'import' ? quotedJson : quoteText;
}
