/** What the processes of a test save. */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../src/core/json.js';

/** Which steps a process saves, and where. */
export interface SaveTurn {
  readonly folder: string;
  readonly sessionId: string;
  readonly who: string;
  readonly first: number;
  readonly last: number;
}

/** A history that grows: two steps of one process have most of it in common. */
export function stepContext(who: string, step: number): JsonObject {
  const history = Array.from({ length: 5 + step }, (_, index) => paragraph(`${who} ${index}`));
  return { who, step, goal: paragraph('of all'), history };
}

function paragraph(name: string): string {
  const digest = (part: number) => createHash('sha256').update(`${name} ${part}`).digest('base64');
  return Array.from({ length: 12 }, (_, part) => digest(part)).join(' ');
}
