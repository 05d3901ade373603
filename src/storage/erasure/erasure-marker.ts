/**
 * An erasure that has begun and not ended: a document of its own, outside of what it erases. While it is there, the names that it takes
 * away are not used: what is half gone would pass for the whole.
 */
import { createHash } from 'node:crypto';
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import type { Name, StorageBackend, StoredPlace } from '../ports.js';

/** Whose data is erased. Others may follow: a turn, a message, a subject, a source. */
export type ErasureTarget =
  | { readonly agent: string }
  /** A root session of shared state with its children, and a session of checkpoints. */
  | { readonly session: string }
  /** Of LangGraph, and a session of the OpenAI Agents SDK. */
  | { readonly thread: string };

export interface ErasureMarker {
  readonly target: ErasureTarget;
  readonly trees: readonly Name[];
  /** What there was when it began. */
  readonly places: readonly StoredPlace[];
}

const FOLDER = ['erasures'];

function markerName(target: ErasureTarget): Name {
  const [[kind, id] = ['', '']] = Object.entries(target);
  return [...FOLDER, `${kind}-${createHash('sha256').update(id, 'utf16le').digest('hex').slice(0, 32)}`];
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

/** Erasures that have begun and not ended. */
export async function unfinishedErasures(backend: StorageBackend): Promise<ErasureMarker[]> {
  const markers: ErasureMarker[] = [];
  for (const name of await backend.documents.list(FOLDER)) {
    const marker = decode((await backend.documents.read([...FOLDER, name]))?.value);
    if (marker) markers.push(marker);
  }
  return markers;
}

/** @throws ERASURE_UNFINISHED when an erasure that has not ended takes away this name, or one above it */
export async function assertNotErasing(backend: StorageBackend, name: Name): Promise<void> {
  for (const { target, trees } of await unfinishedErasures(backend))
    if (trees.some((tree) => tree.every((segment, index) => name[index] === segment)))
      throw unfinished(target, `${name.join('/')} cannot be used`);
}

export function unfinished(target: ErasureTarget, what: string, details: JsonObject = {}): RekindleError {
  const [[kind, id] = ['', '']] = Object.entries(target);
  const text = `${what}: the erasure of the ${kind} ${JSON.stringify(id)} was not finished.`;
  return new RekindleError('ERASURE_UNFINISHED', text, { details: { target: { ...target }, ...details } });
}

function decode(value: JsonValue | undefined): ErasureMarker | null {
  if (!isJsonObject(value) || !isJsonObject(value['target']) || !Array.isArray(value['trees'])) return null;
  return value as unknown as ErasureMarker;
}
