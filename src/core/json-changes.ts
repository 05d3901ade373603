/** Records what a conversion to JSON had to change, and where. */

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
  /** A number was added to a key that would have hidden another one after its surrogates were replaced. */
  | 'key'
  /** A promise, an iterator or a pattern: it has no readable content, so only its kind is written. */
  | 'opaque'
  | 'depth'
  | 'size';

/** One change that the conversion to JSON made. */
export interface JsonChange {
  readonly kind: JsonChangeKind;
  /** JSON Pointer (RFC 6901) into the result. */
  readonly path: string;
}

/** The position of a value. The path is written out only when a change is recorded. */
export interface Place {
  readonly in: Place | null;
  readonly key: string | number;
}

export const TOP: Place = { in: null, key: '' };

/** The first change of each kind is always listed, so that many small changes do not hide a large one. */
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
