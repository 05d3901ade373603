/** One record of a session's journal, `checkpoints.jsonl`. */
import type { JsonObject } from '../../core/json.js';
import { Type } from '../../core/schema.js';
import { lazySchema } from '../../core/schema-check.js';
import type { CompressionType } from '../content/compression.js';
import { CONTEXT_BYTES_MAX } from '../content/context-json.js';
import type { NumberRange } from './number-ranges.js';

/** The data that a checkpoint wrote, as it is stored. */
export interface StoredPack {
  /** SHA-256 of the stored bytes, by which they are named. */
  readonly digest: string;
  /** As stored. */
  readonly bytes: number;
  /** Before compression. */
  readonly raw: number;
  readonly compression: CompressionType;
  /** The data key that they are sealed with. */
  readonly key?: string;
}

/** What a context is about, by layer: how many of its keys, and how many bytes of JSON. */
export type LayerSummary = Readonly<Record<string, { readonly keys: number; readonly bytes: number }>>;

/** What was said of a checkpoint, and found out. */
export interface CheckpointLabels {
  readonly name?: string;
  readonly agent?: string;
  readonly workflow?: string;
  readonly tags?: readonly string[];
  /** Retention leaves it alone. */
  readonly critical?: true;
  /** What kind of thing the context is; absent for a plain context. */
  readonly kind?: string;
  readonly layers?: LayerSummary;
}

export interface SaveRecord extends CheckpointLabels {
  readonly type: 'save';
  /** That of its record in the journal: never used again. */
  readonly number: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly context: {
    /** Of its JSON text, as UTF-8. */
    readonly bytes: number;
    /** SHA-256 of its canonical JSON, hex; in an encrypted session a keyed digest of that. */
    readonly hash: string;
  };
  readonly pack: StoredPack;
  /** Earlier checkpoints whose packs hold parts of the context. */
  readonly uses: readonly NumberRange[];
  /** Checkpoints that made room for it. */
  readonly removes?: readonly number[];
  /** Bytes that the session's data takes from here on. */
  readonly stored: number;
}

export interface RemoveRecord {
  readonly type: 'remove';
  readonly at: string;
  readonly numbers: readonly number[];
  readonly why: string;
  readonly stored: number;
}

export interface MarkRecord {
  readonly type: 'mark';
  readonly at: string;
  /** A key of the context that views never drop. */
  readonly contextKey?: string;
  /** A checkpoint that retention leaves alone. */
  readonly number?: number;
  readonly stored: number;
}

/** Records that are missing for good: somebody repaired the journal, and knows it. */
export interface LostRecord {
  readonly type: 'lost';
  readonly at: string;
  readonly ranges: readonly NumberRange[];
  readonly stored: number;
}

/** Everything that counts up to here: what comes before it can go. */
export interface BaseRecord {
  readonly type: 'base';
  readonly at: string;
  /** When the first checkpoint was saved. */
  readonly since: string;
  readonly saves: readonly (SaveRecord & { readonly removed?: true })[];
  readonly marks: readonly string[];
  /** Data that no live checkpoint uses any more, and since when. */
  readonly freed: { readonly [digest: string]: string };
  /** How many records each data key sealed until here. */
  readonly keyUses: { readonly [key: string]: number };
  /** What the records before it come to, for heads. */
  readonly chain: string;
  readonly stored: number;
}

export type CheckpointRecord = SaveRecord | RemoveRecord | MarkRecord | LostRecord | BaseRecord;

/** Packs that one context may use. */
export const PACKS_MAX = 256;
/** Beside the data of a context: its digest, and where its parts are. */
const PACK_BYTES_MAX = 2 * CONTEXT_BYTES_MAX;

const number = Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 });
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const text = Type.String();
const common = { at: text, stored: count };
const range = Type.Array(number, { minItems: 2, maxItems: 2 });
const saveFields = {
  ...common,
  type: Type.Literal('save'),
  number,
  name: Type.Optional(text),
  agent: Type.Optional(text),
  workflow: Type.Optional(text),
  tags: Type.Optional(Type.Array(text)),
  critical: Type.Optional(Type.Literal(true)),
  kind: Type.Optional(text),
  layers: Type.Optional(
    Type.Object({}, { additionalProperties: Type.Object({ keys: count, bytes: count }) }),
  ),
  context: Type.Object({ bytes: Type.Integer({ minimum: 0, maximum: CONTEXT_BYTES_MAX }), hash: text }),
  pack: Type.Object({
    digest: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    bytes: count,
    raw: Type.Integer({ minimum: 0, maximum: PACK_BYTES_MAX }),
    compression: Type.Union([Type.Literal('none'), Type.Literal('gzip'), Type.Literal('zstd')]),
    key: Type.Optional(text),
  }),
  uses: Type.Array(range, { maxItems: PACKS_MAX }),
  removes: Type.Optional(Type.Array(number)),
};
const checkRecord = lazySchema(
  Type.Union([
    Type.Object(saveFields),
    Type.Object({ ...common, type: Type.Literal('remove'), numbers: Type.Array(number), why: text }),
    Type.Object({
      ...common,
      type: Type.Literal('mark'),
      contextKey: Type.Optional(text),
      number: Type.Optional(number),
    }),
    Type.Object({ ...common, type: Type.Literal('lost'), ranges: Type.Array(range) }),
    Type.Object({
      ...common,
      type: Type.Literal('base'),
      since: text,
      saves: Type.Array(Type.Object({ ...saveFields, removed: Type.Optional(Type.Literal(true)) })),
      marks: Type.Array(text),
      freed: Type.Object({}, { additionalProperties: text }),
      keyUses: Type.Object({}, { additionalProperties: count }),
      chain: text,
    }),
  ]),
);

/** Null for a row of another shape, or that cannot be true: damaged, forged, or of a newer release. */
export function decodeRecord(row: JsonObject): CheckpointRecord | null {
  if (!checkRecord()(row)) return null;
  const record = row as unknown as CheckpointRecord;
  const saves = record.type === 'save' ? [record] : record.type === 'base' ? record.saves : [];
  return saves.every(hasPossibleUses) ? record : null;
}

/** Ascending ranges of earlier checkpoints, and not too many. */
function hasPossibleUses({ number: own, uses }: SaveRecord): boolean {
  let before = 0;
  let packs = 0;
  for (const [first, last] of uses) {
    if (first <= before || last < first || last >= own) return false;
    before = last;
    packs += last - first + 1;
  }
  return packs <= PACKS_MAX;
}
