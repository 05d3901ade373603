/**
 * One injective, case-safe encoding of a name segment as a file name, and back.
 *
 * Kept unchanged: `a-z 0-9 _ -` and a `.` that is not first. Everything else becomes `%xx` for each byte of its UTF-8,
 * with lower-case digits. So `Agent-A` and `agent-a` differ on every file system, and so do the two spellings of an
 * accented letter: ids are compared by code points. Rejected before any I/O: empty text, `.` and `..`, separators,
 * control characters, lone surrogates, a leading or trailing space, a trailing dot, the device names of Windows, and
 * segments longer than `NAME_BYTES_MAX` when encoded.
 */
import { RekindleError } from '../core/errors.js';
import { NAME_BYTES_MAX } from '../core/limits.js';

const PLAIN = /^[a-z0-9_-][a-z0-9._-]*$/;
const WINDOWS_DEVICE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$/i;

/** The file name of a name segment. Different segments never share a file name. @throws INVALID_NAME */
export function encodeNameSegment(segment: string): string {
  const problem = problemWith(segment);
  if (problem) throw refused(segment, problem);
  if (PLAIN.test(segment) && segment.length <= NAME_BYTES_MAX) return segment;
  const encoded = [...Buffer.from(segment, 'utf8')].map(encodeByte).join('');
  if (encoded.length > NAME_BYTES_MAX) {
    throw refused(segment, `longer than ${NAME_BYTES_MAX} bytes when encoded (${encoded.length})`);
  }
  return encoded;
}

/** The segment of a file name, or null if the name does not have this encoding. */
export function decodeNameSegment(fileName: string): string | null {
  if (!/^(?:[a-z0-9._-]|%[0-9a-f]{2})+$/.test(fileName)) return null;
  const bytes = fileName.replace(/%([0-9a-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const segment = Buffer.from(bytes, 'latin1').toString('utf8');
  if (problemWith(segment)) return null;
  try {
    return encodeNameSegment(segment) === fileName ? segment : null;
  } catch {
    return null;
  }
}

/**
 * The segment of a folder entry, or null if there is none. An entry that is not encoded is its own segment: another
 * tool made it under a plain name, such as `Ada` or `Software Engineer_4771`.
 */
export function segmentOfEntry(entry: string): string | null {
  return decodeNameSegment(entry) ?? (isPlainName(entry) ? entry : null);
}

/** Whether another tool may have used this segment as a folder name. False for hidden entries and broken encodings. */
export function isPlainName(segment: string): boolean {
  return !/^\.|%[0-9a-f]{2}/i.test(segment) && problemWith(segment) === null;
}

function problemWith(segment: string): string | null {
  if (typeof segment !== 'string') return 'not text';
  if (segment === '') return 'empty';
  if (segment === '.' || segment === '..') return 'a relative path';
  if (/[\u0000-\u001f\u007f]/.test(segment)) return 'it has a control character';
  if (/[/\\]/.test(segment)) return 'it has a path separator';
  if (!segment.isWellFormed()) return 'it has a lone surrogate';
  if (/^ | $|\.$/.test(segment)) return 'it starts with a space, or ends with a space or a dot';
  if (WINDOWS_DEVICE.test(segment)) return 'a device name on Windows';
  return null;
}

function encodeByte(byte: number, index: number): string {
  const char = String.fromCharCode(byte);
  const plain = index === 0 ? /[a-z0-9_-]/ : /[a-z0-9._-]/;
  return plain.test(char) ? char : `%${byte.toString(16).padStart(2, '0')}`;
}

function refused(segment: string, problem: string): RekindleError {
  const shown = typeof segment === 'string' ? segment.toWellFormed().slice(0, 80) : typeof segment;
  return new RekindleError('INVALID_NAME', `The name ${JSON.stringify(shown)} is not allowed: ${problem}.`, {
    details: { name: shown, problem },
  });
}
