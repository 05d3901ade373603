/**
 * Finds the nesting depth of a JSON text before it is parsed: code that works on a deep value may be slow or overflow
 * the stack.
 */

const MARK = /["[\]{}]/g;

/** True if more than `max` lists and objects are open at once. Linear; stops at the first place that is too deep. */
export function isNestedDeeper(text: string, max: number): boolean {
  const pattern = new RegExp(MARK);
  let depth = 0;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const mark = found[0];
    if (mark === '"') pattern.lastIndex = endOfString(text, found.index);
    else if (mark === ']' || mark === '}') depth -= 1;
    else if (++depth > max) return true;
  }
  return false;
}

/** The index after the closing quote of the string that starts at `start`. */
export function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}
