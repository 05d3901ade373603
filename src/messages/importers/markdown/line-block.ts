/** Lines that belong together: those of one message, until the next one begins. */
import { RekindleError } from '../../../core/errors.js';
import { SLICE_BYTES_MAX } from '../reading/json-slices.js';
import type { TextLine } from '../reading/split-lines.js';
import type { TranscriptImporter, TranscriptSource } from '../transcript.js';

export class LineBlock {
  #lines: TextLine[] = [];
  #chars = 0;

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** @throws TRANSCRIPT_INVALID if the block is too large for memory */
  add(line: TextLine): void {
    this.#lines.push(line);
    this.#chars += line.text.length + 1;
    if (this.#chars > SLICE_BYTES_MAX) throw tooLarge(this.#lines[0]!.line);
  }

  /** The lines; the block is empty afterwards. */
  take(): readonly TextLine[] {
    const lines = this.#lines;
    this.#lines = [];
    this.#chars = 0;
    return lines;
  }
}

/** The text of lines, without blank lines and white space around it. */
export function textOfLines(lines: readonly TextLine[]): string {
  return lines
    .map(({ text }) => text)
    .join('\n')
    .replace(/^(?:[^\S\n]*\n)+/, '')
    .trimEnd();
}

export function noMessages({ name }: TranscriptSource, { lookedFor }: TranscriptImporter): RekindleError {
  return new RekindleError('TRANSCRIPT_INVALID', `${JSON.stringify(name)} has no messages.`, {
    details: { name, lookedFor },
  });
}

function tooLarge(line: number): RekindleError {
  return new RekindleError(
    'TRANSCRIPT_INVALID',
    `The message that begins at line ${line} has more than ${SLICE_BYTES_MAX} characters.`,
    { details: { problem: 'too large', line, charsMax: SLICE_BYTES_MAX } },
  );
}
