/** Describes transcripts and requests in plain words: losses, violations, notes. */
import Table from 'cli-table3';
import type { LossItem, LossReport } from '../messages/importers/loss-account.js';
import type { Repair, Violation } from '../messages/legality/repairs.js';
import { RULES_TEXT } from '../messages/legality/rule-texts.js';
import type { RequestViolation } from '../messages/projections/checks/request-check.js';
import type { ProjectionNote } from '../messages/projections/projection.js';
import { count } from './report-text.js';
import { excerpt } from './safe-text.js';

const PLAIN = {
  chars: {
    ...{
      top: '',
      'top-mid': '',
      'top-left': '',
      'top-right': '',
      bottom: '',
      'bottom-mid': '',
      'bottom-left': '',
    },
    ...{
      'bottom-right': '',
      left: '',
      'left-mid': '',
      mid: '',
      'mid-mid': '',
      right: '',
      'right-mid': '',
      middle: '  ',
    },
  },
  style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
};

export function describeLosses(losses: LossReport): string[] {
  const kept = Object.entries(losses.kept).map(([kind, number]) => count(number, kind));
  return [`Kept: ${kept.length > 0 ? kept.join(', ') : 'nothing'}.`, ...describeNotKept(losses)];
}

/** Only the losses of the transcript itself, unchanged. */
export function describeNotKept(losses: LossReport): string[] {
  return [...lossTable('Approximated', losses.approximated), ...lossTable('Dropped', losses.dropped)];
}

function lossTable(title: string, items: readonly LossItem[]): string[] {
  if (items.length === 0) return [];
  const table = new Table({ ...PLAIN });
  for (const { what, count: number, places } of items) {
    table.push([
      { content: number.toLocaleString('en'), hAlign: 'right' },
      excerpt(what, 60),
      placesText(number, places),
    ]);
  }
  return [
    `${title}:`,
    ...table
      .toString()
      .split('\n')
      .map((line) => `  ${line.trimEnd()}`),
  ];
}

function placesText(number: number, places: readonly string[]): string {
  const shown = places
    .slice(0, 3)
    .map((place) => excerpt(place, 30))
    .join(', ');
  return number > 3 ? `${shown}, ...` : shown;
}

export function describeViolation(violation: Violation): string {
  const call = violation.callId === undefined ? '' : ` (call ${excerpt(violation.callId, 40)})`;
  const { enforcedBy } = RULES_TEXT[violation.rule];
  return `message ${violation.messageIndex}: ${excerpt(violation.reason, 120)}${call} [${violation.rule}; refused by ${enforcedBy}]`;
}

export function describeRefusal(target: string, refused: RequestViolation): string {
  return `${refused.path}: ${excerpt(refused.reason, 120)} [${refused.rule}; refused by ${target}]`;
}

export function describeRepair(repair: Repair): string {
  return `message ${repair.messageIndex}: ${repair.code}, because ${excerpt(repair.reason, 120)}`;
}

export function describeNote(note: ProjectionNote): string {
  const where = note.messageIndex === null ? 'the request' : `message ${note.messageIndex}`;
  return `${where}: ${note.code}: ${excerpt(note.detail, 120)}`;
}
