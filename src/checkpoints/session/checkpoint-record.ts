/** The records of a session's journal, `checkpoints.jsonl`. */
import type { JsonObject } from '../../core/json.js';
import { Type } from '../../core/schema.js';
import { lazySchema } from '../../core/schema-check.js';
import type { CompressionType } from '../content/compression.js';
import { CONTEXT_BYTES_MAX } from '../content/context-json.js';
import type { NumberRange } from './number-ranges.js';

/** The stored data of one checkpoint. */
export interface StoredPack {
  /** SHA-256 of the stored bytes, which is also their name. */
  readonly digest: string;
  /** Stored size. */
  readonly bytes: number;
  /** Size before compression. */
  readonly raw: number;
  readonly compression: CompressionType;
  /** The data key that sealed them. */
  readonly key?: string;
}

/** Number of keys and bytes of JSON in each layer of a context. */
export type LayerSummary = Readonly<Record<string, { readonly keys: number; readonly bytes: number }>>;

/** Labels of a checkpoint, from the caller and from the classification. */
export interface CheckpointLabels {
  readonly name?: string;
  readonly agent?: string;
  readonly workflow?: string;
  readonly tags?: readonly string[];
  /** Retention never removes it. */
  readonly critical?: true;
  /** Kind of the context; absent for a plain one. */
  readonly kind?: string;
  readonly layers?: LayerSummary;
  /** Keys of the given context that were left out, because they are of the running program only. */
  readonly leftOut?: readonly string[];
}

/**
 * `active`: in use. `archived`: put aside; lists leave it out, and it is not the newest one of its session. `corrupt`: a check found
 * that it cannot be loaded.
 */
export type CheckpointStatus = (typeof CHECKPOINT_STATUSES)[number];
export const CHECKPOINT_STATUSES = ['active', 'archived', 'corrupt'] as const;

export interface SaveRecord extends CheckpointLabels {
  readonly type: 'save';
  /** The number of its record in the journal; never reused. */
  readonly number: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly context: {
    /** Bytes of its JSON text, as UTF-8. */
    readonly bytes: number;
    /** SHA-256 of its canonical JSON, hex; in an encrypted session a keyed digest of that. */
    readonly hash: string;
  };
  readonly pack: StoredPack;
  /** Earlier checkpoints whose packs contain parts of the context. */
  readonly uses: readonly NumberRange[];
  /** Checkpoints removed to make room. */
  readonly removes?: readonly number[];
  /** Bytes of the session's data after this record. */
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
  /** A context key that no view drops. */
  readonly contextKey?: string;
  /** A checkpoint that retention keeps. */
  readonly number?: number;
  readonly stored: number;
}

/** What is said of a checkpoint after its save; either part may change alone. */
export interface StatusChange {
  readonly archived?: boolean;
  readonly corrupt?: boolean;
}

/** The status of some checkpoints from here on. */
export interface StatusRecord extends StatusChange {
  readonly type: 'status';
  readonly at: string;
  readonly numbers: readonly number[];
  readonly stored: number;
}

/** Records that are permanently missing, acknowledged by a repair. */
export interface LostRecord {
  readonly type: 'lost';
  readonly at: string;
  readonly ranges: readonly NumberRange[];
  readonly stored: number;
}

/** A save with what later records said of it. */
export interface BaseSave extends SaveRecord {
  /** Kept only for its data, which others use. */
  readonly removed?: true;
  readonly archived?: true;
  readonly corrupt?: true;
}

/** Everything that is valid at this point, so that earlier records can be removed. */
export interface BaseRecord {
  readonly type: 'base';
  readonly at: string;
  /** When the first checkpoint was saved. */
  readonly since: string;
  readonly saves: readonly BaseSave[];
  readonly marks: readonly string[];
  /** Data that no live checkpoint uses, and since when. */
  readonly freed: { readonly [digest: string]: string };
  /** Number of records that each data key sealed before. */
  readonly keyUses: { readonly [key: string]: number };
  /** Chained digest of the records before it, for heads. */
  readonly chain: string;
  readonly stored: number;
}

export type CheckpointRecord =
  | SaveRecord
  | RemoveRecord
  | MarkRecord
  | StatusRecord
  | LostRecord
  | BaseRecord;

const DAY_MS = 86_400_000;

/** @param maxAgeDays null: nothing is too old */
export function isTooOld({ at }: SaveRecord, maxAgeDays: number | null, nowMs: number): boolean {
  return maxAgeDays !== null && nowMs - Date.parse(at) > maxAgeDays * DAY_MS;
}

/** Maximum of packs that one context may use. */
export const PACKS_MAX = 256;
/** Largest pack: the data of a context, its digest, and its extents. */
const PACK_BYTES_MAX = 2 * CONTEXT_BYTES_MAX;

const number = Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 });
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const text = Type.String();
const common = { at: text, stored: count };
const statusFields = <T extends Parameters<typeof Type.Optional>[0]>(value: T) => ({
  archived: Type.Optional(value),
  corrupt: Type.Optional(value),
});
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
  leftOut: Type.Optional(Type.Array(text)),
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
    Type.Object({
      ...common,
      type: Type.Literal('status'),
      numbers: Type.Array(number),
      ...statusFields(Type.Boolean()),
    }),
    Type.Object({ ...common, type: Type.Literal('lost'), ranges: Type.Array(range) }),
    Type.Object({
      ...common,
      type: Type.Literal('base'),
      since: text,
      saves: Type.Array(
        Type.Object({
          ...saveFields,
          removed: Type.Optional(Type.Literal(true)),
          ...statusFields(Type.Literal(true)),
        }),
      ),
      marks: Type.Array(text),
      freed: Type.Object({}, { additionalProperties: text }),
      keyUses: Type.Object({}, { additionalProperties: count }),
      chain: text,
    }),
  ]),
);

/** Null for a row of another shape, or with impossible values: damaged, forged, or of a newer release. */
export function decodeRecord(row: JsonObject): CheckpointRecord | null {
  if (!checkRecord()(row)) return null;
  const record = row as unknown as CheckpointRecord;
  const saves = record.type === 'save' ? [record] : record.type === 'base' ? record.saves : [];
  return saves.every(hasPossibleUses) ? record : null;
}

/** Ascending ranges of earlier checkpoints, within the limit. */
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
