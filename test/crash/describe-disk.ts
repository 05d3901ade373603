/** A disk as text, for the report of a violation. */
import type { SimulatedDisk } from '../../src/storage/simulated/simulated-disk.js';

const SHOWN_BYTES = 400;

export function describeDisk(disk: SimulatedDisk): string {
  const files = [...disk.contents()].sort(([a], [b]) => (a < b ? -1 : 1));
  if (files.length === 0) return '(no files)';
  return files.map(([path, bytes]) => `${path} (${bytes.length} bytes)${indented(bytes)}`).join('\n');
}

function indented(bytes: Uint8Array): string {
  if (bytes.length === 0) return '';
  const text = Buffer.from(bytes.subarray(0, SHOWN_BYTES)).toString('latin1');
  const visible = text.replace(
    /[^\n\x20-\x7e]/g,
    (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  const more = bytes.length > SHOWN_BYTES ? `\n    ... ${bytes.length - SHOWN_BYTES} bytes more` : '';
  return `\n    ${visible.replace(/\n$/, '\\n').split('\n').join('\\n\n    ')}${more}`;
}
