/**
 * Builds the context of a new epoch: system message, one memory message, and the newest messages verbatim.
 *
 * The memory message has the role `user`, so a list that starts with it is legal for every provider, and the mark
 * `kind: memory`. It is built from the items each time: a summary never contains an older one. Item text is quoted, so
 * it cannot add a section or an item.
 */
import { RekindleError } from '../../core/errors.js';
import { isOpening } from '../../messages/legality/h3-opens-with-user.js';
import type { Message } from '../../messages/message.js';
import { factLine } from '../facts/fact-line.js';
import { sourceOf } from '../facts/fact-source.js';
import type { EpisodicItem, MemoryBundle } from '../models/memory-items.js';
import type { Trace } from '../models/trace.js';
import { messagesOfTraces } from '../working-context-reducer.js';
import { quotedJson, quoteItem, quoteText } from './quoted-text.js';

/** Builds the message list of a new epoch from memory items and the newest messages. Pure. */
export class CompactionSnapshotBuilder {
  /**
   * ```ts
   * const list = new CompactionSnapshotBuilder().build('Be kind.', bundle, await memory.getRawTail(4));
   * ```
   * @param systemPrompt empty for none
   * @param rawTail the newest messages, or the traces of the newest turns, of which `messagesOfTraces` makes messages
   * @throws INVALID_ARGUMENT for messages and traces in one list
   */
  build(
    systemPrompt: string,
    bundle: MemoryBundle,
    rawTail: readonly Message[] | readonly Trace[],
  ): Message[] {
    const messages: Message[] = systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }];
    const memory = memoryText(bundle);
    if (memory !== '') messages.push({ role: 'user', content: memory, kind: 'memory' });
    const tail = messagesIn(rawTail).filter(
      (message) => message.role !== 'system' && message.kind !== 'memory',
    );
    // The memory message opens the list, so a substitute opening is no longer needed.
    const isOpened = memory !== '' && tail[0] !== undefined && isOpening(tail[0]);
    for (const message of isOpened ? tail.slice(1) : tail) messages.push(message);
    return messages;
  }
}

function messagesIn(rawTail: readonly Message[] | readonly Trace[]): readonly Message[] {
  const items: readonly (Message | Trace)[] = rawTail;
  const traces = items.filter((item): item is Trace => !('role' in item));
  if (traces.length === 0) return rawTail as readonly Message[];
  if (traces.length === items.length) return messagesOfTraces(traces);
  throw new RekindleError('INVALID_ARGUMENT', 'The tail must be messages or traces, not both.', {
    details: { argument: 'rawTail' },
  });
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
