/** Splits a source into lines, by bytes: only 0x0A ends a line. */
import { joinBytes, utf8Text } from '../../../core/bytes.js';
import { RekindleError } from '../../../core/errors.js';
import { SLICE_BYTES_MAX } from './json-slices.js';

const NEWLINE = 0x0a;

export interface RawLine {
  /** Without the newline. */
  readonly bytes: Uint8Array;
  /** Offset of its first byte in the source. */
  readonly start: number;
  /** Starts at 1. */
  readonly line: number;
}

export interface TextLine {
  readonly text: string;
  /** Starts at 1. */
  readonly line: number;
}

/** @throws TRANSCRIPT_INVALID for a line that is too long for memory */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RawLine> {
  let held: Uint8Array[] = [];
  let start = 0;
  let offset = 0;
  let line = 1;
  for await (const bytes of chunks) {
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      const rest = bytes.subarray(from, at);
      if (offset + at - start > SLICE_BYTES_MAX) throw tooLong(line, start);
      yield { bytes: held.length === 0 ? rest : joinBytes([...held, rest]), start, line };
      line += 1;
      held = [];
      from = at + 1;
      start = offset + from;
    }
    if (from < bytes.length) held.push(Uint8Array.from(bytes.subarray(from))); // copied, because the chunk is reused
    offset += bytes.length;
    if (offset - start > SLICE_BYTES_MAX) throw tooLong(line, start);
  }
  if (held.length > 0) yield { bytes: joinBytes(held), start, line };
}

/** Lines of text, without carriage returns at their ends and without a byte order mark. */
export async function* textLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TextLine> {
  for await (const { bytes, line } of splitLines(chunks)) {
    const text = utf8Text(bytes).replace(/\r$/, '');
    yield { text: line === 1 ? text.replace(/^\uFEFF/, '') : text, line };
  }
}

function tooLong(line: number, offset: number): RekindleError {
  return new RekindleError(
    'TRANSCRIPT_INVALID',
    `Line ${line}, which begins at byte ${offset}, is longer than ${SLICE_BYTES_MAX} bytes.`,
    { details: { problem: 'too large', line, offset, bytesMax: SLICE_BYTES_MAX } },
  );
}
