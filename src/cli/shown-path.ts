/** A folder as a person finds it: from here where it lies below, else from the root. A URL as it is. */
import path from 'node:path';
import { isStorageUrl } from '../storage/open-storage.js';

export function shownPath(folder: string): string {
  if (isStorageUrl(folder)) return folder;
  const relative = path.relative(process.cwd(), folder);
  return relative.startsWith('..') ? folder : relative || '.';
}
