/** Everything that a store hands out: records with their numbers, also archived ones, documents and blobs. */
import type { JsonObject } from '../core/json.js';
import type { StorageBackend } from '../storage/ports.js';

export type StoredContent = { readonly place: string } & (
  | { readonly record: JsonObject }
  | { readonly bytes: Uint8Array }
);

/** In the order of names. Changes nothing. */
export async function* contentsOf(storage: StorageBackend): AsyncGenerator<StoredContent> {
  for await (const { kind, name } of storage.contents([])) {
    const place = name.join('/');
    if (kind === 'document') yield { place, bytes: (await storage.documents.readBytes(name)) ?? NOTHING };
    if (kind === 'blobs')
      for await (const { digest } of storage.blobs(name).list())
        yield { place: `${place}/${digest}`, bytes: (await storage.blobs(name).get(digest)) ?? NOTHING };
    if (kind !== 'journal') continue;
    const journal = await storage.openJournal<JsonObject>(name, { readOnly: true });
    try {
      for await (const entry of journal.read({ archived: true }))
        if (entry.kind === 'record') yield { place: `${place}#${entry.seq}`, record: entry.record };
    } finally {
      await journal.close();
    }
  }
}

/** Removed while it was being listed. */
const NOTHING = new Uint8Array();
