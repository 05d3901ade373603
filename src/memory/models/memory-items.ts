/** Long-term memory: summaries of blocks of turns, and lasting facts. Stored one per line. */
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { type FactSource, isFactSource } from '../facts/fact-source.js';

/** The summary of a block of turns. */
export interface EpisodicItem {
  readonly id: string;
  /** Seconds since 1970. */
  readonly ts: number;
  readonly turnIds: readonly string[];
  readonly summary: string;
  readonly salience: number;
  /** What it was made from: see `Fact.origins`. Absent in rows of older releases. */
  readonly origins?: readonly string[];
}

/** A lasting fact. */
export interface SemanticItem {
  readonly id: string;
  readonly ts: number;
  readonly fact: string;
  readonly category?: string;
  readonly confidence?: number;
  readonly salience: number;
  /** See `Fact` for these. A row without a source was written by an older release, and is attributed to nobody. */
  readonly key?: string;
  readonly source?: FactSource;
  readonly origins?: readonly string[];
  readonly trace?: FactTrace;
  readonly pinned?: boolean;
}

/** The trace that a fact came from. */
export interface FactTrace {
  readonly agentId: string;
  /** Its number in the agent's trace journal; null if only the turn is known. */
  readonly number: number | null;
  readonly turnId: string;
}

/** The memory items of a restored or compacted context. */
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
    ...(item.origins ? { origins: [...item.origins] } : {}),
  };
}

/** @throws MESSAGE_INVALID */
export function episodicFromJson(json: JsonValue): EpisodicItem {
  if (!isJsonObject(json) || typeof json['summary'] !== 'string') throw invalid('episodic item', 'summary');
  const turnIds = Array.isArray(json['turn_ids'])
    ? json['turn_ids'].filter((id) => typeof id === 'string')
    : [];
  const item = {
    ...envelope(json),
    turnIds,
    summary: json['summary'],
    salience: numberOr(json['salience'], 0),
  };
  return { ...item, ...originsFrom(json) };
}

export function semanticToJson(item: SemanticItem): JsonObject {
  const json: JsonObject = { id: item.id, ts: item.ts, fact: item.fact, salience: item.salience };
  if (item.category !== undefined) json['category'] = item.category;
  if (item.confidence !== undefined) json['confidence'] = item.confidence;
  if (item.key !== undefined) json['key'] = item.key;
  if (item.source !== undefined) json['source'] = item.source;
  if (item.origins) json['origins'] = [...item.origins];
  if (item.trace) {
    const { agentId, number, turnId } = item.trace;
    json['trace'] = { agent_id: agentId, number, turn_id: turnId };
  }
  if (item.pinned) json['pinned'] = true;
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
    ...(typeof json['key'] === 'string' ? { key: json['key'] } : {}),
    ...(isFactSource(json['source']) ? { source: json['source'] } : {}),
    ...originsFrom(json),
    ...traceFrom(json['trace']),
    ...(json['pinned'] === true ? { pinned: true } : {}),
  };
}

function originsFrom({ origins }: JsonObject): { origins?: readonly string[] } {
  return Array.isArray(origins) ? { origins: origins.filter((origin) => typeof origin === 'string') } : {};
}

function traceFrom(json: JsonValue | undefined): { trace?: FactTrace } {
  if (!isJsonObject(json)) return {};
  const { agent_id: agentId, number, turn_id: turnId } = json;
  if (typeof agentId !== 'string' || typeof turnId !== 'string') return {};
  return { trace: { agentId, number: typeof number === 'number' ? number : null, turnId } };
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
