/** A file or a folder as a source for importers, which may read its pieces repeatedly. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { RekindleError } from '../core/errors.js';
import { folderOf } from '../messages/importers/source.js';
import type { TranscriptSource } from '../messages/importers/transcript.js';

const CHUNK_BYTES = 256 * 1024;
/** A folder with more files than this is not a transcript. */
const FILES_MAX = 100_000;

export interface FileSource {
  readonly source: TranscriptSource;
  close(): Promise<void>;
}

/**
 * @param onBytes called with the number of bytes read, for a progress bar
 * @throws INVALID_ARGUMENT if it is missing, or not a regular file or folder
 */
export async function openFileSource(
  file: string,
  onBytes: (bytes: number) => void = () => {},
): Promise<FileSource> {
  const found = await stat(file).catch((cause: unknown) => {
    throw unreadable(file, 'There is no such file or folder.', cause);
  });
  if (found.isDirectory()) return openFolder(file, onBytes);
  if (!found.isFile()) throw unreadable(file, 'It is not a regular file.');
  const handle = await open(file, constants.O_RDONLY).catch((cause: unknown) => {
    throw unreadable(file, 'It cannot be opened.', cause);
  });
  return { source: sourceOfHandle(handle, file, found.size, onBytes), close: () => handle.close() };
}

async function openFolder(folder: string, onBytes: (bytes: number) => void): Promise<FileSource> {
  const entries = await readdir(folder, { recursive: true }).catch((cause: unknown) => {
    throw unreadable(folder, 'Not all of its folders can be listed.', cause);
  });
  const names = entries.filter((name) => name.endsWith('.json')).sort();
  if (names.length > FILES_MAX) throw unreadable(folder, `It has more than ${FILES_MAX} files.`);
  const files: TranscriptSource[] = [];
  for (const name of names) {
    const full = path.join(folder, name);
    const found = await lstat(full);
    if (found.isFile()) files.push(lazySource(full, name.split(path.sep).join('/'), found.size, onBytes));
  }
  return { source: folderOf(files, folder), close: async () => {} };
}

/** Opened for each read, because a folder may have more files than a process may open. */
function lazySource(
  file: string,
  name: string,
  size: number,
  onBytes: (bytes: number) => void,
): TranscriptSource {
  const slice = async (start: number, end: number): Promise<Uint8Array> => {
    const handle = await open(file, constants.O_RDONLY);
    try {
      const bytes = await sourceOfHandle(handle, name, size, onBytes).slice(start, end);
      onBytes(bytes.length); // here the slices are the reading itself
      return bytes;
    } finally {
      await handle.close();
    }
  };
  return {
    name,
    size,
    async *chunks() {
      yield await slice(0, size);
    },
    slice,
  };
}

function sourceOfHandle(
  handle: FileHandle,
  name: string,
  size: number,
  onBytes: (bytes: number) => void,
): TranscriptSource {
  const slice = (start: number, end: number): Promise<Uint8Array> =>
    fill(Buffer.allocUnsafe(Math.max(0, Math.min(end, size) - start)), start);
  const fill = async (buffer: Buffer, start: number): Promise<Uint8Array> => {
    const wanted = buffer.length;
    let filled = 0;
    while (filled < wanted) {
      const { bytesRead } = await handle.read(buffer, filled, wanted - filled, start + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  };
  return {
    name,
    size,
    async *chunks() {
      // One buffer for all: thousands of buffers would pile up faster than they are garbage-collected.
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size));
      for (let at = 0; at < size; at += CHUNK_BYTES) {
        const chunk = await fill(buffer.subarray(0, Math.min(CHUNK_BYTES, size - at)), at);
        if (chunk.length === 0) return;
        onBytes(chunk.length);
        yield chunk;
      }
    },
    slice,
  };
}

function unreadable(file: string, problem: string, cause?: unknown): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${file} cannot be read. ${problem}`, {
    details: { argument: 'file', file, problem },
    cause,
  });
}
