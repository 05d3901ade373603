/**
 * A folder as shown to a person: relative if it is below the current folder, else absolute. URLs stay
 * unchanged.
 */
import path from 'node:path';
import { isStorageUrl } from '../storage/open-storage.js';

export function shownPath(folder: string): string {
  if (isStorageUrl(folder)) return folder;
  const relative = path.relative(process.cwd(), folder);
  return relative.startsWith('..') ? folder : relative || '.';
}
