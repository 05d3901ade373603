/**
 * One change of a document as its journal stores it.
 *
 *     {"version":4,"at":"2026-03-01T10:00:00.000Z","event":"updated","by":"builder","why":"took T-002","patch":[...],"digest":"..."}
 *
 * It stores the patch, or the whole value if that is shorter, or if the patches since the last whole value
 * are as long as the value. So reading the current value costs at most about twice its own length, and
 * writing a change costs about the size of the change.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../core/canonical-json.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import { applyPatch, type JsonPatchStep, patchBetween } from '../../core/json-patch.js';

/**
 * `imported`: a file that existed before its journal. `recovered`: the end of the journal was damaged, and
 * the file was used instead.
 */
export type StateEventKind = 'created' | 'imported' | 'updated' | 'human_edit' | 'migrated' | 'recovered';

/** One change in the history of a document. */
export interface StateEvent {
  /** Starts at 1 and grows by one with each event. */
  readonly version: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly event: StateEventKind;
  /** The author; `human` for a person. */
  readonly by: string;
  readonly why: string | null;
  /** The patch from the version before; null if the event stores the whole value. */
  readonly patch: readonly JsonPatchStep[] | null;
  readonly value: JsonObject | null;
  /** Digest of the new value: SHA-256 of its canonical JSON, the first 32 hex digits. */
  readonly digest: string;
  /** For a person's edit: the digest of the file as they saved it. */
  readonly file: string | null;
}

/** A document at one of its versions. */
export interface StateAt {
  readonly version: number;
  readonly value: JsonObject;
  readonly digest: string;
  readonly at: string;
  readonly event: StateEventKind;
  readonly by: string;
  readonly why: string | null;
  /** Bytes of patches since the last whole value. */
  readonly patchBytes: number;
}

export interface StateChange {
  readonly event: StateEventKind;
  readonly by: string;
  readonly why: string | null;
  readonly at: string;
  readonly value: JsonObject;
  /** See `StateEvent.file`. */
  readonly file?: string;
}

export function digestOf(value: JsonValue): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 32);
}

/**
 * The record of a change. @param lost damaged versions between it and `before`, whose numbers are not reused
 */
export function encodeEvent(before: StateAt | null, change: StateChange, lost = 0): JsonObject {
  const { value, at, event, by, why } = change;
  const patch = before === null || event === 'human_edit' ? null : patchBetween(before.value, value);
  const bytes = patch ? JSON.stringify(patch).length : 0;
  const whole = patch === null || (before?.patchBytes ?? 0) + bytes >= JSON.stringify(value).length;
  return {
    version: (before?.version ?? 0) + lost + 1,
    at,
    event,
    by,
    ...(why === null ? {} : { why }),
    ...(whole ? { value } : { patch: patch as unknown as JsonValue }),
    digest: digestOf(value),
    ...(change.file === undefined ? {} : { file: change.file }),
  };
}

/** Null for a row of another shape. */
export function decodeEvent(row: JsonObject): StateEvent | null {
  const { version, at, event, by, why, patch, value, digest, file } = row;
  if (typeof version !== 'number' || typeof at !== 'string' || typeof by !== 'string') return null;
  if (typeof digest !== 'string' || typeof event !== 'string') return null;
  if (!isJsonObject(value) && !Array.isArray(patch)) return null;
  return {
    version,
    at,
    event: event as StateEventKind,
    by,
    why: typeof why === 'string' ? why : null,
    patch: Array.isArray(patch) ? (patch as unknown as JsonPatchStep[]) : null,
    value: isJsonObject(value) ? value : null,
    digest,
    file: typeof file === 'string' ? file : null,
  };
}

/**
 * The document after consecutive events. The first one stores a whole value, or follows `before`. Null if
 * they do not lead to the digest of the last one: something is missing or damaged.
 */
export function replayEvents(before: StateAt | null, events: readonly StateEvent[]): StateAt | null {
  const last = events.at(-1);
  if (!last) return before;
  const start = events.findLastIndex((event) => event.value !== null);
  const base = start >= 0 ? events[start]!.value : (before?.value ?? null);
  const patches = events.slice(start + 1).map((event) => event.patch ?? []);
  const value = base && applySteps(base, patches);
  if (!value || digestOf(value) !== last.digest) return null;
  const { version, at, event, by, why, digest } = last;
  const patchBytes = patches.reduce(
    (sum, patch) => sum + JSON.stringify(patch).length,
    start >= 0 ? 0 : (before?.patchBytes ?? 0),
  );
  return { version, value, digest, at, event, by, why, patchBytes };
}

function applySteps(base: JsonObject, patches: readonly (readonly JsonPatchStep[])[]): JsonObject | null {
  if (patches.length === 0) return base;
  try {
    const next = applyPatch(base, ...patches);
    return isJsonObject(next) ? next : null;
  } catch {
    return null; // a patch does not apply: the digest would not match either
  }
}
