/** Ids: unique across processes, sortable by eye, safe in file names. */
import { randomBytes } from 'node:crypto';

/** `<prefix>_<milliseconds>_<10 hex digits>`: the seed's shape, with a random part because milliseconds collide. */
export function newId(prefix: string, nowMs: number): string {
  return `${prefix}_${nowMs}_${randomBytes(5).toString('hex')}`;
}

/** `turn_0001`, `turn_0002`, ...; four digits at least, as the seed has them. */
export function formatTurnId(turn: number): string {
  return `turn_${String(turn).padStart(4, '0')}`;
}

/** The number in a turn id, or 0 when the id is not of that shape (other tools name turns freely). */
export function turnNumber(turnId: string | undefined): number {
  const match = turnId === undefined ? null : /^turn_(\d{1,15})$/.exec(turnId);
  return match ? Number(match[1]) : 0;
}
