/**
 * Checks calls and results of an Anthropic request: every call has its result in the next turn; results come first,
 * calls last.
 */
import type { PlacedBlock, Turn } from './anthropic-turns.js';
import { fieldOf, quote, type Report } from './request-check.js';

export function checkAnthropicCalls(turns: readonly Turn[], report: Report): void {
  turns.forEach((turn, i) => {
    if (turn.role === 'assistant') {
      checkCallsLast(turn, report);
      if (i === turns.length - 1) reportUnanswered(openCalls(turn), report);
      return;
    }
    checkPairs(turns[i - 1], turn, report);
    checkResultsFirst(turn, report);
  });
}

function openCalls(turn: Turn | undefined): Map<unknown, string> {
  const open = new Map<unknown, string>();
  for (const { block, type, path } of turn?.blocks ?? []) {
    if (type === 'tool_use') open.set(fieldOf(block, 'id'), path);
  }
  return open;
}

function checkPairs(before: Turn | undefined, turn: Turn, report: Report): void {
  const open = openCalls(before);
  const answered = new Set<unknown>();
  for (const { block, type, path } of turn.blocks) {
    if (type !== 'tool_result') continue;
    const id = fieldOf(block, 'tool_use_id');
    if (open.delete(id)) answered.add(id);
    else if (answered.has(id))
      report('anthropic/3.3', path, `The call ${quote(id)} is answered a second time.`);
    else
      report('anthropic/3.3', path, `The result is for ${quote(id)}, which is no call of the turn before.`);
  }
  reportUnanswered(open, report);
}

function reportUnanswered(open: ReadonlyMap<unknown, string>, report: Report): void {
  for (const [id, path] of open) {
    report('anthropic/3.3', path, `The call ${quote(id)} has no result in the turn right behind it.`);
  }
}

function checkResultsFirst(turn: Turn, report: Report): void {
  let other = false;
  let message: number | null = null;
  for (const placed of turn.blocks) {
    if (placed.type !== 'tool_result') other = true;
    else {
      if (other) report('anthropic/3.4', placed.path, 'The result comes after other content of its turn.');
      else if (message !== null && message !== placed.message) {
        report('anthropic/3.4', placed.path, 'The results of one turn are spread over several messages.');
      }
      message = placed.message;
    }
  }
}

/** Thinking starts a new segment. Each segment may end with calls, and no text may follow them. */
function checkCallsLast(turn: Turn, report: Report): void {
  let call: PlacedBlock | null = null;
  for (const placed of turn.blocks) {
    if (placed.type === 'tool_use') call = placed;
    else if (placed.type === 'thinking' || placed.type === 'redacted_thinking') call = null;
    else if (placed.type === 'text' && call !== null) {
      report('anthropic/3.7', placed.path, 'The text comes after a call of its segment.');
      call = null;
    }
  }
}
