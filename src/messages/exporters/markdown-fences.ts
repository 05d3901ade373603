/** Markdown blocks that no content can break out of. */

const SHORTEST_FENCE = 3;
const FENCE_START = /^(`{3,}(?=[^`]*$)|~{3,})/;
/** The start of a tag, a comment or a declaration. */
const TAG_START = /<(?=[a-zA-Z/!?])/g;

/** A code block, with a fence longer than any run of backticks inside. */
export function fenced(content: string, language = ''): string {
  const fence = '`'.repeat(Math.max(SHORTEST_FENCE, longestRun(content) + 1));
  const text = content.replace(/\r\n?/g, '\n');
  return `${fence}${language}\n${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${fence}\n`;
}

/** A code span of one line. */
export function codeSpan(content: string): string {
  const text = content.replace(/\s+/g, ' ').trim();
  if (text === '') return '` `';
  const ticks = '`'.repeat(longestRun(text) + 1);
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${ticks}${space}${text}${space}${ticks}`;
}

/**
 * Text that is itself Markdown, as a quotation: its headings and open fences end with the quotation. Tags outside its
 * code blocks are escaped, because an open comment would hide everything after it.
 */
export function quoted(content: string): string {
  let fence: Fence = '';
  const lines = content.split(/\r\n?|\n/).map((line) => {
    const before = fence;
    fence = fenceAfter(line, before);
    const isCode = before !== null && before !== '' && fence !== null;
    return isCode ? line : line.replace(TAG_START, '&lt;');
  });
  return `${lines.map((line) => (line === '' ? '>' : `> ${line}`)).join('\n')}\n`;
}

/** The open fence. Empty if there is none. Null if Markdown parsers could disagree, so that no line may count as code. */
type Fence = string | null;

function fenceAfter(line: string, fence: Fence): Fence {
  if (fence === null) return null;
  if (fence !== '') {
    const run = line.trim();
    const isRun = run.length >= fence.length && run === fence.charAt(0).repeat(run.length);
    if (!isRun) return fence;
    return /^\S+[ \t]*$/.test(line) ? '' : null;
  }
  const opened = FENCE_START.exec(line)?.[1];
  return opened ?? (/`{3}|~{3}/.test(line) ? null : '');
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
