/**
 * A started but unfinished erasure, stored as a document outside the data that it erases. While it exists, the erased
 * names cannot be used: half-erased data would look complete.
 */
import { createHash } from 'node:crypto';
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import type { Name, StorageBackend, StoredPlace } from '../ports.js';

/** A part of an agent. The rest of the agent stays. */
export type PartTarget =
  /** One turn: its number, or its id. */
  | { readonly agent: string; readonly turn: number | string }
  /** One message, call or result: the number of its record, as `memory_read` and `rekindle search` show it. */
  | { readonly agent: string; readonly message: number }
  /** Everything from one source: `tool:NAME`, `tool` for all tools, or `import`. */
  | { readonly agent: string; readonly source: string };

/** Whose data is erased. */
export type ErasureTarget =
  | { readonly agent: string }
  | PartTarget
  /** A root session of shared state with its children, and a session of checkpoints. */
  | { readonly session: string }
  /** A thread of LangGraph, a session of the OpenAI Agents SDK, and the sessions of this id of the Claude Agent SDK. */
  | { readonly thread: string };

export interface ErasureMarker {
  readonly target: ErasureTarget;
  readonly trees: readonly Name[];
  /** What existed when it started. */
  readonly places: readonly StoredPlace[];
  /** Names that cannot be used until it is finished, in addition to `trees`. */
  readonly guards?: readonly Name[];
  /** What a part of an agent consists of: numbers and ids, no content. */
  readonly scope?: JsonObject;
}

const FOLDER = ['erasures'];

function markerName(target: ErasureTarget): Name {
  const { kind, id } = identityOf(target);
  return [...FOLDER, `${kind}-${createHash('sha256').update(id, 'utf16le').digest('hex').slice(0, 32)}`];
}

export function isPart(target: ErasureTarget): target is PartTarget {
  return 'agent' in target && Object.keys(target).length > 1;
}

/** Unique together. The id of a part contains its agent. */
function identityOf(target: ErasureTarget): { readonly kind: string; readonly id: string } {
  if (isPart(target)) {
    const { agent, ...part } = target;
    const [[kind, id] = ['', '']] = Object.entries(part);
    return { kind, id: JSON.stringify([agent, String(id)]) };
  }
  const [[kind, id] = ['', '']] = Object.entries(target);
  return { kind, id };
}

/** For people: `agent "desk"`, `turn 3 of the agent "desk"`. */
export function targetText(target: ErasureTarget): string {
  if (isPart(target)) {
    const { agent, ...part } = target;
    const [[kind, id] = ['', '']] = Object.entries(part);
    return `${kind} ${id} of the agent ${JSON.stringify(agent)}`;
  }
  const { kind, id } = identityOf(target);
  return `${kind} ${JSON.stringify(id)}`;
}

/** Durable when it resolves. */
export async function writeMarker(backend: StorageBackend, marker: ErasureMarker): Promise<void> {
  const value = { format: 1, ...marker } as unknown as JsonObject;
  await backend.documents.write(markerName(marker.target), value);
}

export async function readMarker(
  backend: StorageBackend,
  target: ErasureTarget,
): Promise<ErasureMarker | null> {
  return decode((await backend.documents.read(markerName(target)))?.value);
}

export async function deleteMarker(backend: StorageBackend, target: ErasureTarget): Promise<void> {
  await backend.documents.delete(markerName(target));
}

/** Erasures that started and did not finish. */
export async function unfinishedErasures(backend: StorageBackend): Promise<ErasureMarker[]> {
  const markers: ErasureMarker[] = [];
  for (const name of await backend.documents.list(FOLDER)) {
    const marker = decode((await backend.documents.read([...FOLDER, name]))?.value);
    if (marker) markers.push(marker);
  }
  return markers;
}

/** @throws ERASURE_UNFINISHED if an unfinished erasure, other than `own`, covers this name or one above it */
export async function assertNotErasing(
  backend: StorageBackend,
  name: Name,
  own: ErasureTarget | null = null,
): Promise<void> {
  const ownName = own && markerName(own).join('/');
  for (const { target, trees, guards = [] } of await unfinishedErasures(backend))
    if (markerName(target).join('/') === ownName) continue;
    else if ([...trees, ...guards].some((tree) => tree.every((segment, index) => name[index] === segment)))
      throw unfinished(target, `${name.join('/')} cannot be used`);
}

export function unfinished(target: ErasureTarget, what: string, details: JsonObject = {}): RekindleError {
  const text = `${what}: the erasure of the ${targetText(target)} was not finished.`;
  return new RekindleError('ERASURE_UNFINISHED', text, { details: { target: { ...target }, ...details } });
}

function decode(value: JsonValue | undefined): ErasureMarker | null {
  if (!isJsonObject(value) || !isJsonObject(value['target']) || !Array.isArray(value['trees'])) return null;
  return value as unknown as ErasureMarker;
}
