/**
 * Builds the context of a new epoch: system message, one memory message, and the newest messages verbatim.
 *
 * The memory message has the role `user`, so a list that starts with it is legal for every provider, and the mark
 * `kind: memory`. It is built from the items each time: a summary never contains an older one. Item text is quoted, so
 * it cannot add a section or an item.
 */
import { isOpening } from '../../messages/legality/h3-opens-with-user.js';
import type { Message } from '../../messages/message.js';
import { factLine } from '../facts/fact-line.js';
import { sourceOf } from '../facts/fact-source.js';
import type { EpisodicItem, MemoryBundle } from '../models/memory-items.js';
import { quotedJson, quoteItem, quoteText } from './quoted-text.js';

/** Builds the message list of a new epoch from memory items and the newest messages. Pure. */
export class CompactionSnapshotBuilder {
  /** @param systemPrompt empty for none */
  build(systemPrompt: string, bundle: MemoryBundle, rawTail: readonly Message[]): Message[] {
    const messages: Message[] = systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }];
    const memory = memoryText(bundle);
    if (memory !== '') messages.push({ role: 'user', content: memory, kind: 'memory' });
    const tail = rawTail.filter((message) => message.role !== 'system' && message.kind !== 'memory');
    // The memory message opens the list, so a substitute opening is no longer needed.
    const isOpened = memory !== '' && tail[0] !== undefined && isOpening(tail[0]);
    for (const message of isOpened ? tail.slice(1) : tail) messages.push(message);
    return messages;
  }
}

/** The memory text in the documented format, without a digest of recent turns: those follow as messages. */
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

/** Text written after reading tool results or imports may repeat them, so each of its lines is quoted. */
function quoteOf({ origins = [] }: EpisodicItem): (line: string) => string {
  const source = sourceOf(origins);
  return source === 'tool' || source === 'import' ? quotedJson : quoteText;
}
