/** What is stored below a prefix, from listings. */
import { isDigest } from '../../blob-digest.js';
import { encodeNameSegment } from '../../name-encoding.js';
import { type KeyRange, keyOf } from '../../name-key.js';
import type { Name } from '../../ports.js';
import type { PlaceRow, SqlOperations } from '../../sql/sql-engine.js';
import type { ObjectEntry, ObjectStorage } from '../object-storage.js';
import { atOnce } from './at-once.js';
import { BLOBS, DOCUMENTS, isDamagedName, JOURNALS, prefixOf, STREAM_STATE } from './object-places.js';
import { parseSegmentName } from './segment-names.js';

const ROOTS = [JOURNALS, DOCUMENTS, BLOBS] as const;
const REQUESTS_AT_ONCE = 16;

interface Listed extends ObjectEntry {
  readonly root: (typeof ROOTS)[number];
  /** Of the journal, document, or scope of blobs. */
  readonly key: string;
}

export class StoredNames {
  readonly #objects: ObjectStorage;

  constructor(objects: ObjectStorage) {
    this.#objects = objects;
  }

  async segments(range: KeyRange): Promise<string[]> {
    const prefix = prefixOf(range);
    const names = await Promise.all(ROOTS.map((root) => this.#objects.names([root, ...prefix])));
    return [...new Set(names.flat().map(encodeNameSegment))];
  }

  async contents(range: KeyRange): Promise<ReturnType<SqlOperations['listContents']>> {
    const found = new Map<string, readonly ['journal' | 'document' | 'blobs', string]>();
    for (const { root, key } of await this.#list(range)) {
      const kind = root === JOURNALS ? 'journal' : root === DOCUMENTS ? 'document' : 'blobs';
      found.set(`${key} ${kind}`, [kind, key]); // a space sorts before every character of a key
    }
    return [...found.keys()].sort().map((text) => found.get(text)!);
  }

  async places(range: KeyRange): Promise<PlaceRow[]> {
    const rows = new Map<string, PlaceRow>();
    for (const { root, key, name, size } of await this.#list(range)) {
      const isAside = root === JOURNALS && isDamagedName(name.at(-1)!);
      const kind = isAside
        ? 'aside'
        : root === JOURNALS
          ? 'journal'
          : root === DOCUMENTS
            ? 'document'
            : 'blobs';
      const [, , items = 0, bytes = 0] = rows.get(`${kind} ${key}`) ?? [];
      rows.set(`${kind} ${key}`, [kind, key, items + 1, bytes + size]);
    }
    return [...rows.values()];
  }

  /** The mark of a key changes with each change of its objects. */
  async marks(range: KeyRange): Promise<(readonly [string, string])[]> {
    const marks = new Map<string, string>();
    for (const { root, key, name, size, modifiedMs, version } of await this.#list(range)) {
      if (root === BLOBS) continue;
      const mark = `${name.at(-1)} ${version ?? `${size} ${modifiedMs}`}`;
      marks.set(key, root === DOCUMENTS ? mark : `${marks.get(key) ?? ''} ${mark}`);
    }
    return [...marks];
  }

  /** Deletes everything below. @param isHeld asked from time to time; if false, nothing more is deleted */
  async remove(range: KeyRange, isHeld: () => Promise<boolean>): Promise<boolean> {
    const prefix = prefixOf(range);
    const names: Name[] = [];
    for (const root of ROOTS)
      for await (const { name } of this.#objects.list([root, ...prefix]))
        names.push([root, ...prefix, ...name]);
    for (let at = 0; at < Math.max(1, names.length); at += 10 * REQUESTS_AT_ONCE) {
      if (!(await isHeld())) return false;
      const some = names.slice(at, at + 10 * REQUESTS_AT_ONCE);
      await atOnce(some, REQUESTS_AT_ONCE, (name) => this.#objects.delete(name));
    }
    return true;
  }

  async #list(range: KeyRange): Promise<Listed[]> {
    const prefix = prefixOf(range);
    const lists = await Promise.all(ROOTS.map((root) => this.#listRoot(root, prefix)));
    return lists.flat().filter(({ key }) => key >= range.start && key < range.end);
  }

  async #listRoot(root: Listed['root'], prefix: Name): Promise<Listed[]> {
    const found: Listed[] = [];
    for await (const entry of this.#objects.list([root, ...prefix])) {
      const last = entry.name.at(-1) ?? '';
      if (root === BLOBS && !isDigest(last)) continue;
      if (root === JOURNALS && !isOfJournal(last)) continue;
      const name = [...prefix, ...(root === DOCUMENTS ? entry.name : entry.name.slice(0, -1))];
      if (name.length > 0) found.push({ ...entry, root, key: keyOf(name) });
    }
    return found;
  }
}

function isOfJournal(segment: string): boolean {
  return parseSegmentName(segment) !== null || segment === STREAM_STATE || isDamagedName(segment);
}
