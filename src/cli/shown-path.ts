/** A folder as a person finds it: from here where it lies below, else from the root. */
import path from 'node:path';

export function shownPath(folder: string): string {
  const relative = path.relative(process.cwd(), folder);
  return relative.startsWith('..') ? folder : relative || '.';
}
