/** Reads one of the host's own files by its path; links are followed. */
import { readFile } from 'node:fs/promises';
import { labelled } from './storage-errors.js';

/** @throws STORAGE_FAILED with `details.errno` */
export function readLocalFile(path: string): Promise<Uint8Array> {
  return labelled(`read ${path}`, () => readFile(path));
}
