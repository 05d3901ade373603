/** Media for a self-contained file: bytes of artifacts are embedded; missing media become a line of text. */
import { toBase64 } from '../../core/bytes.js';
import { type ContentPart, isBlankText, type Media, type Message, partsOf } from '../message.js';
import type { ExportOptions } from './transcript-exporter.js';

/** Used if a part has no media type: at least the kind is known. */
const TYPE_OF_KIND = {
  image: 'image/png',
  audio: 'audio/wav',
  video: 'video/mp4',
  file: 'application/octet-stream',
};

export interface EmbeddedMedia {
  readonly url: string;
  readonly mime: string;
}

/** Null for an artifact whose bytes are missing. */
export function embed(media: Media, options: ExportOptions): EmbeddedMedia | null {
  const mime = media.mime ?? /^data:([^;,]+)/.exec(media.ref.slice(0, 200))?.[1] ?? TYPE_OF_KIND[media.kind];
  if (!media.ref.startsWith('sha256:')) return { url: media.ref, mime };
  const bytes = options.artifacts?.get(media.ref);
  return bytes ? { url: `data:${mime};base64,${toBase64(bytes)}`, mime } : null;
}

export function missingText(media: Media): string {
  const name = media.name ?? (media.ref.startsWith('data:') ? media.mime : media.ref);
  return `[${media.kind} not available${name === undefined ? '' : `: ${name}`}]`;
}

/** The content of a message as parts: its text or parts, then the URL lists of older messages. */
export function contentPartsOf(message: Message): ContentPart[] {
  const reasoning = (message.reasoning ?? []).map(
    (item): ContentPart => ({ type: 'reasoning', reasoning: item }),
  );
  const isBlank = message.content !== null && isBlankText(message.content);
  return [...reasoning, ...partsOf(isBlank ? { ...message, content: null } : message)];
}
