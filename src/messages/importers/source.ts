/** Sources over what is in memory already. A file is a source in the command line, where the file system is. */
import { utf8Bytes } from '../../core/bytes.js';
import type { TranscriptSource } from './transcript.js';

/** @param chunkBytes for tests: how much is given out at once */
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
