/** Turns inline bytes into artifacts: otherwise each row of the journal, and each request, would contain them. */
import type { ContentPart, Media, Message } from '../messages/message.js';
import type { Blobs } from '../storage/ports.js';

/** Returns the same message if it has none. Durable when it resolves. */
export async function storeInlineMedia(message: Message, blobs: Blobs): Promise<Message> {
  if (!message.parts?.some(isInline)) return message;
  const parts: ContentPart[] = [];
  for (const part of message.parts) {
    parts.push(isInline(part) ? { type: 'media', media: await storeMedia(part.media, blobs) } : part);
  }
  return { ...message, parts };
}

async function storeMedia(media: Media, blobs: Blobs): Promise<Media> {
  const match = /^data:([^;,]*)[^,]*;base64,/.exec(media.ref.slice(0, 200));
  if (!match) return media;
  const bytes = Buffer.from(media.ref.slice(match[0].length), 'base64');
  const { digest, size } = await blobs.put(bytes);
  const mime = media.mime ?? match[1];
  return { ...media, ...(mime ? { mime } : {}), ref: `sha256:${digest}`, bytes: size };
}

function isInline(part: ContentPart): part is Extract<ContentPart, { type: 'media' }> {
  return part.type === 'media' && part.media.ref.startsWith('data:');
}
