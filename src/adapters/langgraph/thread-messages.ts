/** LangChain's messages as messages of ours, and back. Only their public shape is used, so no class of the package is needed. */
import type { JsonValue } from '../../core/json.js';
import { toJsonValue } from '../../core/to-json-value.js';
import { LangChainReader } from '../../messages/importers/langgraph/langchain-message.js';
import { LossAccount } from '../../messages/importers/loss-account.js';
import { type Message, resultText, toolResultOf } from '../../messages/message.js';
import { type ListEntry, type ListWriter, systemEntry } from '../fitted-list.js';

/** A message of a thread, as far as it is used here: any message of `@langchain/core`. */
export interface ThreadMessage {
  readonly content: unknown;
  toDict(): { readonly type: string; readonly data: object };
}

/** Of the memory message: LangChain's own mark for a summary. */
const SUMMARY = { lc_source: 'summarization' };

/** Reads each message once. */
export class ThreadMessages<Source extends ThreadMessage> {
  readonly #known = new WeakMap<Source, ListEntry<Source>>();

  entryOf(source: Source): ListEntry<Source> {
    const known = this.#known.get(source);
    if (known) return known;
    const entry = readEntry(source);
    this.#known.set(source, entry);
    return entry;
  }
}

function readEntry<Source extends ThreadMessage>(source: Source): ListEntry<Source> {
  const json = toJsonValue(source.toDict()).value;
  const message = new LangChainReader(new LossAccount()).read(json, '') ?? unreadable(json);
  if (message.role === 'system') return systemEntry(message, [source]);
  // A summary of LangChain is part of the thread: no rung may replace it by its own.
  const { kind: _, ...rest } = message;
  return { message: rest, sources: [source], isSystem: false };
}

/** A message of another kind stays. */
function unreadable(json: JsonValue): Message {
  return { role: 'system', content: JSON.stringify(json) };
}

export function threadWriter<Source extends ThreadMessage>(): ListWriter<Source> {
  return {
    // In the class of a request, which is in each list that has a summary.
    memory: (text, list) => {
      const request = list.findLast(({ message, isSystem }) => message.role === 'user' && !isSystem)!;
      const Class = request.sources[0]!.constructor as new (fields: object) => Source;
      return new Class({ content: text, id: 'rekindle_memory', additional_kwargs: SUMMARY });
    },
    result: (source, shorter) => copyWith(source, contentOf(source, shorter)),
  };
}

/** The same message with another content: all other fields stay. */
function copyWith<Source extends ThreadMessage>(source: Source, content: unknown): Source {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(source) as object), source) as Source;
  const { lc_kwargs: kwargs } = source as { lc_kwargs?: object };
  return Object.assign(copy, { content }, kwargs ? { lc_kwargs: { ...kwargs, content } } : {});
}

/** A text, next to the media that stay. */
function contentOf({ content }: ThreadMessage, shorter: Message): unknown {
  const text = resultText(toolResultOf(shorter)!);
  if (!shorter.parts || !Array.isArray(content)) return text;
  const isText = (block: unknown) =>
    typeof block !== 'object' || (block as { text?: unknown } | null)?.text !== undefined;
  return [{ type: 'text', text }, ...content.filter((block: unknown) => !isText(block))];
}
