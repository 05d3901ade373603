/** One record of a session's journal, `checkpoints.jsonl`. */
import { Type } from 'typebox';
import type { JsonObject } from '../../core/json.js';
import { lazySchema } from '../../core/schema-check.js';
import type { CompressionType } from '../content/compression.js';
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

export interface SaveRecord {
  readonly type: 'save';
  /** 1 for the first of a session; never used again. */
  readonly number: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly name?: string;
  readonly agent?: string;
  readonly workflow?: string;
  readonly tags?: readonly string[];
  /** Retention leaves it alone. */
  readonly critical?: true;
  /** What kind of thing the context is; absent for a plain context. */
  readonly kind?: string;
  readonly context: {
    /** Of its JSON text, as UTF-8. */
    readonly bytes: number;
    /** SHA-256 of its canonical JSON, hex; in an encrypted session a keyed digest of that. */
    readonly hash: string;
  };
  readonly pack: StoredPack;
  /** Earlier checkpoints whose packs hold parts of the context. */
  readonly uses: readonly NumberRange[];
  readonly layers?: LayerSummary;
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

/** Everything that counts up to here: what comes before it can go. */
export interface BaseRecord {
  readonly type: 'base';
  readonly at: string;
  /** When the first checkpoint was saved. */
  readonly since: string;
  readonly last: number;
  readonly saves: readonly (SaveRecord & { readonly removed?: true })[];
  readonly marks: readonly string[];
  /** How many records each data key sealed until here. */
  readonly keyUses?: Readonly<Record<string, number>>;
  readonly stored: number;
}

export type CheckpointRecord = SaveRecord | RemoveRecord | MarkRecord | BaseRecord;

const count = Type.Integer({ minimum: 0 });
const text = Type.String();
const numbers = Type.Array(Type.Integer({ minimum: 1 }));
const common = { at: text, stored: count };
const Save = Type.Object({
  ...common,
  type: Type.Literal('save'),
  number: Type.Integer({ minimum: 1 }),
  name: Type.Optional(text),
  agent: Type.Optional(text),
  workflow: Type.Optional(text),
  tags: Type.Optional(Type.Array(text)),
  critical: Type.Optional(Type.Literal(true)),
  kind: Type.Optional(text),
  context: Type.Object({ bytes: count, hash: text }),
  pack: Type.Object({
    digest: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    bytes: count,
    raw: count,
    compression: Type.Union([Type.Literal('none'), Type.Literal('gzip'), Type.Literal('zstd')]),
    key: Type.Optional(text),
  }),
  uses: Type.Array(Type.Array(Type.Integer({ minimum: 1 }), { minItems: 2, maxItems: 2 })),
  removes: Type.Optional(numbers),
});
const checkRecord = lazySchema(
  Type.Union([
    Save,
    Type.Object({ ...common, type: Type.Literal('remove'), numbers, why: text }),
    Type.Object({
      ...common,
      type: Type.Literal('mark'),
      contextKey: Type.Optional(text),
      number: Type.Optional(Type.Integer({ minimum: 1 })),
    }),
    Type.Object({
      ...common,
      type: Type.Literal('base'),
      since: text,
      last: count,
      saves: Type.Array(Save),
      marks: Type.Array(text),
    }),
  ]),
);

/** Null for a row of another shape: damaged, or of a newer release. */
export function decodeRecord(row: JsonObject): CheckpointRecord | null {
  return checkRecord()(row) ? (row as unknown as CheckpointRecord) : null;
}
