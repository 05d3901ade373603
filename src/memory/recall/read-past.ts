/** Reads one agent's past in order: around a record, or whole turns, up to the limit of one answer. */
import type { StorageBackend } from '../../storage/ports.js';
import type { Passage } from './passage.js';
import { readAround, readTurns } from './search-agent.js';

export type PastPlace =
  | {
      readonly record: number;
      /** Number of records before it; default 4. */
      readonly before?: number;
      readonly after?: number;
    }
  | {
      readonly fromTurn: number;
      /** Default: the first one. At most twenty turns are read. */
      readonly toTurn?: number;
    };

export interface PastReading {
  readonly passages: readonly Passage[];
  /** Where the rest starts, if there was too much for one answer. */
  readonly nextRecord: number | null;
}

/** Maximum records on either side of one. */
export const AROUND_MAX = 50;
const AROUND_DEFAULT = 4;
export const TURNS_MAX = 20;
/** Maximum characters of one answer. */
const READ_CHARS_MAX = 20_000;

/** @throws AGENT_NOT_FOUND */
export async function readPast(
  backend: StorageBackend,
  agentId: string,
  place: PastPlace,
): Promise<PastReading> {
  return shortened(await passagesAt(backend, agentId, place));
}

function passagesAt(backend: StorageBackend, agentId: string, place: PastPlace): Promise<Passage[]> {
  if ('record' in place) {
    const { record, before = AROUND_DEFAULT, after = AROUND_DEFAULT } = place;
    return readAround(backend, agentId, { fromRecord: record - before, toRecord: record + after });
  }
  const { fromTurn, toTurn = fromTurn } = place;
  return readTurns(backend, agentId, { fromTurn, toTurn: Math.min(toTurn, fromTurn + TURNS_MAX - 1) });
}

function shortened(passages: readonly Passage[]): PastReading {
  const shown: Passage[] = [];
  let room = READ_CHARS_MAX;
  for (const passage of passages) {
    room -= passage.text.length;
    if (room < 0 && shown.length > 0) return { passages: shown, nextRecord: passage.seq };
    shown.push(passage);
  }
  return { passages: shown, nextRecord: null };
}
