/** Fenced code blocks of Markdown: their lines have no meaning of their own. */
import type { TextLine } from '../reading/split-lines.js';

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

export interface Fence {
  readonly mark: string;
}

/** The fence that a line opens; null for other lines. */
export function opensFence(text: string): Fence | null {
  const [, mark, info = ''] = FENCE.exec(text) ?? [];
  if (mark === undefined || (mark.startsWith('`') && info.includes('`'))) return null;
  return { mark };
}

export function closesFence(text: string, { mark }: Fence): boolean {
  const [, closing, rest = ''] = FENCE.exec(text) ?? [];
  return closing !== undefined && rest.trim() === '' && closing.startsWith(mark);
}

/** Marks the lines of each closed fence with 1. A fence that never closes is an ordinary line: its text may be cut off. */
export function linesInFences(lines: readonly TextLine[]): Uint8Array {
  const inFence = new Uint8Array(lines.length);
  /** Marks that no later line closes. Without it, many open fences would take quadratic time. */
  const unclosed: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const fence = opensFence(lines[at]!.text);
    if (!fence || unclosed.some((mark) => fence.mark.startsWith(mark))) continue;
    const end = closingLine(lines, at, fence);
    if (end < 0) unclosed.push(fence.mark);
    else {
      inFence.fill(1, at, end + 1);
      at = end;
    }
  }
  return inFence;
}

function closingLine(lines: readonly TextLine[], from: number, fence: Fence): number {
  for (let at = from + 1; at < lines.length; at += 1) if (closesFence(lines[at]!.text, fence)) return at;
  return -1;
}
