/** Whole reads and writes over the file-system port: short counts are continued, and descriptors are always closed. */
import path from 'node:path';
import { errnoOf, type FileStat, type FileSystem, isSameFile, type OpenFile } from '../file-system.js';

/** Writes all bytes. A count of 0 is an error, to avoid an endless loop. */
export async function writeFully(file: OpenFile, bytes: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const count = await file.write(done === 0 ? bytes : bytes.subarray(done), position + done);
    if (count <= 0) throw Object.assign(new RangeError('the device took no bytes'), { code: 'EIO' });
    done += count;
  }
}

/** Reads up to `length` bytes from `position`; shorter only at the end of the file. */
export async function readRange(file: OpenFile, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const count = await file.read(done === 0 ? buffer : buffer.subarray(done), position + done);
    if (count === 0) break;
    done += count;
  }
  return done === length ? buffer : buffer.subarray(0, done);
}

export async function withFile<T>(file: OpenFile, run: (file: OpenFile) => Promise<T>): Promise<T> {
  let result: T;
  try {
    result = await run(file);
  } catch (thrown) {
    await file.close().catch(() => {}); // the first error is the one to report
    throw thrown;
  }
  await file.close();
  return result;
}

/** The whole content, or null if there is no such file. @param onSize may reject the file before it is read */
export async function readWhole(
  fs: FileSystem,
  path: string,
  onSize: (bytes: number) => void = () => {},
): Promise<Buffer | null> {
  const file = await openExisting(fs, path, 'read');
  if (!file) return null;
  return withFile(file, async () => {
    const size = await file.sizeBytes();
    onSize(size);
    return readRange(file, 0, size);
  });
}

export async function openExisting(
  fs: FileSystem,
  path: string,
  mode: 'read' | 'update',
): Promise<OpenFile | null> {
  try {
    return await fs.open(path, mode);
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return null;
    throw thrown;
  }
}

/** Makes a folder and its missing parents below `root`, each durable in its parent. */
export async function ensureFolder(fs: FileSystem, folder: string): Promise<void> {
  const stat = await fs.stat(folder);
  if (stat?.kind === 'folder') return;
  if (stat) throw Object.assign(new TypeError(`not a folder: ${folder}`), { code: 'ENOTDIR' });
  const parent = path.dirname(folder);
  if (parent !== folder) await ensureFolder(fs, parent);
  try {
    await fs.makeFolder(folder);
  } catch (thrown) {
    if (errnoOf(thrown) !== 'EEXIST') throw thrown; // another process was first
  }
  await fs.syncFolder(parent);
}

/** See `FileSystem.renameOver`. */
export async function renameIfSame(
  fs: FileSystem,
  from: string,
  to: string,
  seen: FileStat | null,
): Promise<boolean> {
  if (fs.renameOver) return fs.renameOver(from, to, seen);
  if (!isSameFile(await fs.stat(to), seen)) return false;
  await fs.rename(from, to);
  return true;
}

/** Creates a file with this content. Content and name are durable when it resolves. @throws EEXIST */
export function createDurably(fs: FileSystem, target: string, bytes: Uint8Array): Promise<void> {
  return makeDurably(fs, target, (file) => writeFully(file, bytes, 0));
}

const COPY_BYTES = 1024 * 1024;

/**
 * Copies a part of a file to a new one, without holding it in memory as a whole. @param edit may change each piece,
 * which starts at `position`
 */
export function copyDurably(
  fs: FileSystem,
  source: OpenFile,
  target: string,
  part: { readonly from: number; readonly to: number },
  edit: (piece: Buffer, position: number) => void = () => {},
): Promise<void> {
  return makeDurably(fs, target, async (file) => {
    for (let at = part.from; at < part.to; ) {
      const piece = await readRange(source, at, Math.min(COPY_BYTES, part.to - at));
      if (piece.length === 0) return;
      edit(piece, at);
      await writeFully(file, piece, at - part.from);
      at += piece.length;
    }
  });
}

async function makeDurably(
  fs: FileSystem,
  target: string,
  write: (file: OpenFile) => Promise<void>,
): Promise<void> {
  await withFile(await fs.open(target, 'create'), async (file) => {
    await write(file);
    await file.datasync();
  });
  await fs.syncFolder(path.dirname(target));
}

export async function listOrEmpty(fs: FileSystem, folder: string): Promise<string[]> {
  try {
    return await fs.list(folder);
  } catch (thrown) {
    const errno = errnoOf(thrown);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return [];
    throw thrown;
  }
}
