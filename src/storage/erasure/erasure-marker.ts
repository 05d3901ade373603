/**
 * A started but unfinished erasure, stored as a document outside the data that it erases. While it exists, the erased
 * names cannot be used: half-erased data would look complete.
 */
import { createHash } from 'node:crypto';
import { RekindleError } from '../../core/errors.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';
import type { Name, StorageBackend, StoredPlace } from '../ports.js';

/** Whose data is erased. More kinds may follow: a turn, a message, a subject, a source. */
export type ErasureTarget =
  | { readonly agent: string }
  /** A root session of shared state with its children, and a session of checkpoints. */
  | { readonly session: string }
  /** A thread of LangGraph, and a session of the OpenAI Agents SDK. */
  | { readonly thread: string };

export interface ErasureMarker {
  readonly target: ErasureTarget;
  readonly trees: readonly Name[];
  /** What existed when it started. */
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

/** Erasures that started and did not finish. */
export async function unfinishedErasures(backend: StorageBackend): Promise<ErasureMarker[]> {
  const markers: ErasureMarker[] = [];
  for (const name of await backend.documents.list(FOLDER)) {
    const marker = decode((await backend.documents.read([...FOLDER, name]))?.value);
    if (marker) markers.push(marker);
  }
  return markers;
}

/** @throws ERASURE_UNFINISHED if an unfinished erasure covers this name or one above it */
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
