/**
 * The journals of the tool-call log: one per day, and more for a day with many calls: `2026-03-01`,
 * `2026-03-01-2`, ...
 */
import type { Name, StorageBackend } from '../../storage/ports.js';

export interface CallChunk {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  /** Starts at 1. */
  readonly number: number;
  readonly name: Name;
}

export function chunkAt(folder: Name, day: string, number: number): CallChunk {
  return { day, number, name: [...folder, number === 1 ? day : `${day}-${number}`] };
}

/** A chunk's active file or sealed file: a writer that stopped while sealing leaves only the latter. */
const CHUNK_FILE = /^(\d{4}-\d{2}-\d{2})(?:-(\d+))?(?:\.\d{6,}-\d+(?:\.[0-9a-f]{8})?)?(?:\.jsonl)?$/;

/** Oldest first. */
export async function listChunks(backend: StorageBackend, folder: Name): Promise<CallChunk[]> {
  const chunks = new Map<string, CallChunk>();
  for (const name of await backend.listNames(folder)) {
    const match = CHUNK_FILE.exec(name);
    if (!match) continue;
    const chunk = chunkAt(folder, match[1]!, Number(match[2] ?? 1));
    chunks.set(chunk.name.at(-1)!, chunk);
  }
  return [...chunks.values()].sort((a, b) =>
    a.day === b.day ? a.number - b.number : a.day < b.day ? -1 : 1,
  );
}

export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
