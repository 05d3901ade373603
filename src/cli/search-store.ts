/**
 * Searches a text in the bytes of a store: in every file, including SQLite's side files; on a database
 * server, in all rows. In a tenant it searches only what is the tenant's: its folder, or its rows.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { StorageBackend } from '../storage/ports.js';
import { contentsOf } from './store-contents.js';

export interface TextPlace {
  readonly place: string;
  /** In the bytes themselves, or after decoding JSON escapes. */
  readonly as: 'utf-8' | 'json';
}

/** Levels of JSON text inside JSON text. */
const ESCAPED_DEPTH = 3;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;
const SHORT: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

export async function searchStore(storage: StorageBackend, text: string): Promise<TextPlace[]> {
  const found: TextPlace[] = [];
  for await (const [place, bytes] of storedBytes(storage)) {
    const as = howFound(bytes, text);
    if (as) found.push({ place, as });
  }
  return found;
}

export function howFound(bytes: Uint8Array, text: string): TextPlace['as'] | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (buffer.includes(text, 0, 'utf8')) return 'utf-8';
  let decoded = buffer.toString('utf8');
  for (let depth = 0; depth < ESCAPED_DEPTH && decoded.includes('\\'); depth += 1) {
    decoded = decoded.replace(ESCAPE, (_, hex: string | undefined, short: string | undefined) =>
      hex === undefined ? (SHORT[short!] ?? short!) : String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (decoded.includes(text)) return 'json';
  }
  return null;
}

async function* storedBytes(storage: StorageBackend): AsyncGenerator<readonly [string, Uint8Array]> {
  const { place } = storage;
  if (path.isAbsolute(place)) yield* filesBelow(place);
  else if (place.startsWith('sqlite:') && !storage.tenantPath?.length) {
    yield* rowsOf(storage); // a text may span pages of the file
    const file = place.slice('sqlite:'.length);
    for (const suffix of ['', '-wal', '-journal']) yield* fileAt(`${file}${suffix}`);
  } else yield* rowsOf(storage);
}

async function* filesBelow(folder: string): AsyncGenerator<readonly [string, Uint8Array]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  for (const entry of entries)
    if (entry.isFile()) yield* fileAt(path.join(entry.parentPath, entry.name), folder);
}

async function* fileAt(file: string, root?: string): AsyncGenerator<readonly [string, Uint8Array]> {
  const bytes = await readFile(file).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return null; // deleted meanwhile
    throw thrown;
  });
  if (bytes) yield [root === undefined ? file : path.relative(root, file), bytes];
}

async function* rowsOf(storage: StorageBackend): AsyncGenerator<readonly [string, Uint8Array]> {
  for await (const content of contentsOf(storage))
    yield [content.place, 'bytes' in content ? content.bytes : Buffer.from(JSON.stringify(content.record))];
}
