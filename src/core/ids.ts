/** Ids: unique across processes, sortable by eye, safe in file names. */
import { randomBytes } from 'node:crypto';

/** `<prefix>_<milliseconds>_<10 hex digits>`. The random part is needed because two ids can be made in one millisecond. */
export function newId(prefix: string, nowMs: number): string {
  return `${prefix}_${nowMs}_${randomBytes(5).toString('hex')}`;
}

/** `turn_0001`, `turn_0002`, ...: at least four digits. */
export function formatTurnId(turn: number): string {
  return `turn_${String(turn).padStart(4, '0')}`;
}

/** The number in a turn id, or 0 if the id does not have that shape (other tools name turns freely). */
export function turnNumber(turnId: string | undefined): number {
  const match = turnId === undefined ? null : /^turn_(\d{1,15})$/.exec(turnId);
  return match ? Number(match[1]) : 0;
}
