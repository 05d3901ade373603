/**
 * Checks where an Anthropic request must have thinking, and where it must not. Both depend on whether the request
 * enables thinking. If it does not say, models differ, and only the rules that hold in both cases are checked.
 */
import type { Turn } from './anthropic-turns.js';
import { fieldOf, isBlank, type Report } from './request-check.js';

const THINKING = new Set(['thinking', 'redacted_thinking']);

export function checkAnthropicThinking(turns: readonly Turn[], config: unknown, report: Report): void {
  const mode = fieldOf(config, 'type');
  const isOmitted = fieldOf(config, 'display') === 'omitted';
  for (const turn of turns) {
    if (!isOmitted) checkSignedTexts(turn, report);
    const last = turn.blocks.at(-1);
    if (turn.role === 'assistant' && last?.type === 'thinking') {
      report('anthropic/3.12', last.path, 'The last block of an assistant turn is thinking.');
    }
  }
  const loop = openLoop(turns);
  // With adaptive thinking, the model decides whether a turn begins with thinking.
  if (mode === 'enabled') checkLoopBegins(loop[0], report);
  if (mode === 'disabled') checkNoThinking(loop.at(-1), report);
}

/** Models that hide their thinking return a signature without a text; the request says so then. */
function checkSignedTexts(turn: Turn, report: Report): void {
  for (const { block, type, path } of turn.blocks) {
    const text = fieldOf(block, 'thinking');
    if (type === 'thinking' && typeof text === 'string' && isBlank(text)) {
      report('anthropic/3.11', `${path}/thinking`, 'The text that was signed is gone.');
    }
  }
}

/** The assistant turns of a tool loop that is still open, or a last turn that the model has to continue. */
function openLoop(turns: readonly Turn[]): readonly Turn[] {
  const isPrefill = turns.at(-1)?.role === 'assistant';
  const loop: Turn[] = isPrefill ? turns.slice(-1) : [];
  for (let at = turns.length - (isPrefill ? 2 : 1); at > 0; at -= 2) {
    if (!turns[at]!.blocks.some(({ type }) => type === 'tool_result')) break;
    loop.push(turns[at - 1]!);
  }
  return loop.reverse();
}

function checkLoopBegins(turn: Turn | undefined, report: Report): void {
  const [first] = turn?.blocks ?? [];
  if (!first || THINKING.has(first.type)) return;
  report(
    'anthropic/3.12',
    first.path,
    'Thinking is on, and the open tool loop does not begin with thinking.',
  );
}

function checkNoThinking(turn: Turn | undefined, report: Report): void {
  const found = turn?.blocks.find(({ type }) => THINKING.has(type));
  if (found)
    report('anthropic/3.12', found.path, 'Thinking is off, and the last assistant turn holds thinking.');
}
