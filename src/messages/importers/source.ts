/** Sources over data in memory. The CLI, which has file system access, provides file sources. */
import { utf8Bytes } from '../../core/bytes.js';
import type { TranscriptSource } from './transcript.js';

/**
 * A source over a text or bytes in memory, for `openTranscript`.
 * ```ts
 * const transcript = await openTranscript(sourceOf(jsonText));
 * ```
 * @param chunkBytes for tests: size of the chunks, in bytes
 */
export function sourceOf(
  content: string | Uint8Array,
  name = 'transcript',
  chunkBytes = 1 << 20,
): TranscriptSource {
  const bytes = typeof content === 'string' ? utf8Bytes(content) : content;
  return {
    name,
    size: bytes.length,
    async *chunks() {
      for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
    },
    slice: (start, end) => Promise.resolve(bytes.subarray(start, end)),
  };
}

/** A folder of small files. */
export function folderOf(files: readonly TranscriptSource[], name = 'folder'): TranscriptSource {
  return {
    name,
    size: files.reduce((sum, file) => sum + file.size, 0),
    async *chunks() {},
    slice: () => Promise.resolve(new Uint8Array()),
    files,
  };
}
