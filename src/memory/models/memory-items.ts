/** Long-term memory: summaries of blocks of turns, and lasting facts. Stored one a line, in the seed's shapes. */
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';

/** The summary of a block of turns. */
export interface EpisodicItem {
  readonly id: string;
  /** Seconds since 1970. */
  readonly ts: number;
  readonly turnIds: readonly string[];
  readonly summary: string;
  readonly salience: number;
}

/** A lasting fact. */
export interface SemanticItem {
  readonly id: string;
  readonly ts: number;
  readonly fact: string;
  readonly category?: string;
  readonly confidence?: number;
  readonly salience: number;
}

/** What a restored or compacted context remembers. */
export interface MemoryBundle {
  readonly episodic: readonly EpisodicItem[];
  readonly semantic: readonly SemanticItem[];
}

export function episodicToJson(item: EpisodicItem): JsonObject {
  return {
    id: item.id,
    ts: item.ts,
    turn_ids: [...item.turnIds],
    summary: item.summary,
    salience: item.salience,
  };
}

/** @throws MESSAGE_INVALID */
export function episodicFromJson(json: JsonValue): EpisodicItem {
  if (!isJsonObject(json) || typeof json['summary'] !== 'string') throw invalid('episodic item', 'summary');
  const turnIds = Array.isArray(json['turn_ids'])
    ? json['turn_ids'].filter((id) => typeof id === 'string')
    : [];
  return { ...envelope(json), turnIds, summary: json['summary'], salience: numberOr(json['salience'], 0) };
}

export function semanticToJson(item: SemanticItem): JsonObject {
  const json: JsonObject = { id: item.id, ts: item.ts, fact: item.fact, salience: item.salience };
  if (item.category !== undefined) json['category'] = item.category;
  if (item.confidence !== undefined) json['confidence'] = item.confidence;
  return json;
}

/** @throws MESSAGE_INVALID */
export function semanticFromJson(json: JsonValue): SemanticItem {
  if (!isJsonObject(json) || typeof json['fact'] !== 'string') throw invalid('semantic item', 'fact');
  return {
    ...envelope(json),
    fact: json['fact'],
    salience: numberOr(json['salience'], 0),
    ...(typeof json['category'] === 'string' ? { category: json['category'] } : {}),
    ...(typeof json['confidence'] === 'number' ? { confidence: json['confidence'] } : {}),
  };
}

function envelope(json: JsonObject): { id: string; ts: number } {
  return { id: typeof json['id'] === 'string' ? json['id'] : '', ts: numberOr(json['ts'], 0) };
}

function numberOr(value: JsonValue | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function invalid(what: string, field: string): RekindleError {
  return new RekindleError('MESSAGE_INVALID', `The ${what} lacks its \`${field}\`.`, {
    details: { what, field },
  });
}
