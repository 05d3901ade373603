import { inFile, type Mutant } from './mutant.js';

const STORE = ['test/storage/sealing/sealed-storage.test.ts'];
const CONTRACT = ['test/storage/sealing/sealed-conformance.long.test.ts'];

/** Plain data reaches a sealed store, changed data is accepted, or sealed data cannot be read again. */
export const sealing: readonly Mutant[] = [
  ...inFile('src/storage/sealing/sealed-journal.ts', STORE, [
    ['sealed-append-after-close', 'if (this.#closed) return Promise.reject(journalClosed());', ''],
    [
      'record-is-not-bound-to-its-number',
      "canonicalJson(['record', seq])",
      "canonicalJson(['record', seq && 0])",
    ],
    [
      'plain-record-in-a-sealed-journal',
      "if (typeof sealed !== 'string' || dot < 0) return notSealed(this.#name, entry);",
      "if (typeof sealed !== 'string' || dot < 0) return entry as JournalEntry<R>;",
    ],
  ]),
  ...inFile('src/storage/sealing/sealed-journal.ts', CONTRACT, [
    ['sealed-append-after-a-conflict', 'if (isNext) this.#given = null;', ''],
    ['close-does-not-wait-for-sealed-appends', 'await Promise.allSettled(this.#appending);', ''],
  ]),
  ...inFile('src/storage/sealing/sealed-blocks.ts', STORE, [
    [
      'document-is-not-bound-to-its-name',
      "canonicalJson(['document', [...name]])",
      "canonicalJson(['document', [...name].length])",
    ],
  ]),
  ...inFile('src/storage/sealing/sealed-documents.ts', STORE, [
    ['document-aside-cannot-be-read', 'if (!ASIDE.test(last)) break;', 'break;'],
    ['version-of-sealed-bytes', 'return { ...options, ifVersion: stored.version };', 'return options;'],
  ]),
  ...inFile('src/storage/sealing/sealed-storage.ts', STORE, [
    [
      'sealing-begins-over-plain-data',
      'if (name[0] !== SEALING) throw notSealed(this.place, name);',
      'if (name.length === 0) throw notSealed(this.place, name);',
    ],
    [
      'erasure-leaves-the-key',
      'if (length >= prefix.length) await this.inner.removeBelow([...keyFolderOf(length), ...prefix], lease);',
      'if (length < 0) await this.inner.removeBelow([...keyFolderOf(length), ...prefix], lease);',
    ],
  ]),
  ...inFile('src/storage/sealing/data-keys.ts', STORE, [
    ['wrong-master-key-is-noticed-late', 'if (stored) await this.#unwrap(STORE_DOCUMENT, stored);', ''],
  ]),
  ...inFile('src/storage/file/file-storage.ts', STORE, [
    ['sealed-folder-is-opened-plain', 'throw storeSealed(this.place);', 'return;'],
  ]),
  ...inFile('src/storage/sql/guarded-engine.ts', STORE, [
    ['sealed-database-is-opened-plain', 'if (document) throw storeSealed(this.#place());', 'void document;'],
  ]),
  ...inFile('src/storage/sealing/sealed-blobs.ts', STORE, [
    ['blob-has-its-digest-as-name', 'hidden(key, info.digest), String', 'info.digest, String'],
  ]),
  ...inFile('src/memory/store/working-context-snapshot-store.ts', STORE, [
    [
      'changed-sealed-cache-stops-a-restore',
      "if (isRekindleError(thrown, 'DOCUMENT_DAMAGED')) return 'damaged';",
      '',
    ],
  ]),
];
