/** Neutral content: a single text if that is enough, parts if their order matters. */
import type { ContentPart, Media, Message, ReasoningItem } from '../../message.js';

type Content = Pick<Message, 'content' | 'parts' | 'reasoning'>;

/** Texts and media. A single text becomes the content itself. */
export function contentOf(parts: readonly ContentPart[]): Pick<Message, 'content' | 'parts'> {
  const [first] = parts;
  if (first === undefined) return { content: null };
  const isPlain = parts.length === 1 && first.type === 'text' && first.signature === undefined;
  return isPlain ? { content: first.text } : { content: null, parts };
}

/** Reasoning before the first text goes into a list of its own; reasoning between texts keeps its place. */
export function assistantContentOf(parts: readonly ContentPart[]): Content {
  const firstOther = parts.findIndex((part) => part.type !== 'reasoning');
  const end = firstOther < 0 ? parts.length : firstOther;
  if (parts.slice(end).some((part) => part.type === 'reasoning')) return { content: null, parts };
  const reasoning = parts.slice(0, end).flatMap(reasoningOfPart);
  return { ...contentOf(parts.slice(end)), ...(reasoning.length > 0 ? { reasoning } : {}) };
}

function reasoningOfPart(part: ContentPart): ReasoningItem[] {
  return part.type === 'reasoning' ? [part.reasoning] : [];
}

const KIND_OF_TYPE: ReadonlyMap<string, Media['kind']> = new Map([
  ['image', 'image'],
  ['audio', 'audio'],
  ['video', 'video'],
]);

export function mediaKindOf(mime: string | undefined): Media['kind'] {
  return KIND_OF_TYPE.get(mime?.split('/')[0] ?? '') ?? 'file';
}

interface MediaHints {
  readonly kind?: Media['kind'] | undefined;
  readonly mime?: string | undefined;
  readonly name?: string | undefined;
}

/** A URL or a data URL. The media type of a data URL overrides the given one. */
export function mediaOf(ref: string, given: MediaHints): Media {
  const mime = /^data:([^;,]+)/.exec(ref.slice(0, 200))?.[1] ?? given.mime;
  return {
    kind: given.kind ?? mediaKindOf(mime),
    ...(mime === undefined ? {} : { mime }),
    ref,
    ...(given.name === undefined ? {} : { name: given.name }),
  };
}

export function mediaPartOf(ref: string, given: MediaHints = {}): ContentPart {
  return { type: 'media', media: mediaOf(ref, given) };
}
