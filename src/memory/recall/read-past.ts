/** Reads one agent's past in order: around a record, or whole turns; as much as one answer takes. */
import type { StorageBackend } from '../../storage/ports.js';
import type { Passage } from './passage.js';
import { readAround, readTurns } from './search-agent.js';

export type PastPlace =
  | {
      readonly record: number;
      /** Records on either side; default 4. */
      readonly before?: number;
      readonly after?: number;
    }
  | {
      readonly fromTurn: number;
      /** Default: the first. Turns after the twentieth are left out. */
      readonly toTurn?: number;
    };

export interface PastReading {
  readonly passages: readonly Passage[];
  /** Where the rest begins, when it was more than one answer takes. */
  readonly nextRecord: number | null;
}

/** Records around one, on either side. */
export const AROUND_MAX = 50;
const AROUND_DEFAULT = 4;
export const TURNS_MAX = 20;
/** Of one answer, in characters. */
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
