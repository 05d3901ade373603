/** What a conversion to JSON had to change, and where. */

export type JsonChangeKind =
  | 'undefined'
  | 'non-finite'
  | 'bigint'
  | 'date'
  | 'collection'
  | 'bytes'
  | 'error'
  | 'cycle'
  | 'function-or-symbol'
  | 'throws'
  | 'surrogate'
  /** A key that would have hidden another one, after its surrogates were replaced, has a number now. */
  | 'key'
  /** A promise, an iterator, a pattern: nothing that could be read, so it is only named. */
  | 'opaque'
  | 'depth'
  | 'size';

export interface JsonChange {
  readonly kind: JsonChangeKind;
  /** JSON Pointer (RFC 6901) into the result. */
  readonly path: string;
}

/** Where a value stands. A path is only written out when there is something to say about it. */
export interface Place {
  readonly in: Place | null;
  readonly key: string | number;
}

export const TOP: Place = { in: null, key: '' };

/** The first of each kind is always among them, so that many small changes do not hide a large one. */
const CHANGES_MAX = 100;

export class JsonChanges {
  readonly list: JsonChange[] = [];
  readonly #kinds = new Set<JsonChangeKind>();

  note(kind: JsonChangeKind, at: Place): void {
    if (this.list.length >= CHANGES_MAX && this.#kinds.has(kind)) return;
    this.#kinds.add(kind);
    this.list.push({ kind, path: pointerOf(at) });
  }
}

function pointerOf(at: Place): string {
  const tokens: string[] = [];
  for (let place = at; place.in; place = place.in) {
    tokens.push(`/${String(place.key).replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
  return tokens.reverse().join('');
}
