/**
 * Splits standard input into messages, one per line, and refuses a message with a number that a parser would
 * round.
 */
import { Transform, type TransformCallback } from 'node:stream';
import { isJsonObject, tryParseJson } from '../../core/json.js';
import { quoteLargeIntegers } from '../../core/json-digits.js';

const NEWLINE = 0x0a;
/** JSON-RPC: invalid parameters. */
const INVALID_PARAMS = -32602;

export interface ExactLinesOptions {
  /** Called with each accepted line. */
  readonly onTaken: (text: string) => void;
  /** Writes a line to the client. */
  readonly answer: (line: string) => void;
}

export class ExactLines extends Transform {
  readonly #options: ExactLinesOptions;
  #rest: Buffer[] = [];

  constructor(options: ExactLinesOptions) {
    super();
    this.#options = options;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#take(Buffer.concat([...this.#rest, chunk.subarray(start, end + 1)]));
      this.#rest = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start));
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#rest.length > 0) this.#take(Buffer.concat(this.#rest));
    done();
  }

  #take(line: Buffer): void {
    const text = line.toString('utf8');
    if (quoteLargeIntegers(text) !== text) {
      this.#refuse(text);
      return;
    }
    this.#options.onTaken(text);
    this.push(line);
  }

  #refuse(text: string): void {
    const message = tryParseJson(text);
    const id = isJsonObject(message) ? (message['id'] ?? null) : null;
    const problem = 'The message has a number with more digits than are kept (2^53). Send it as text.';
    this.#options.answer(
      `${JSON.stringify({ jsonrpc: '2.0', id, error: { code: INVALID_PARAMS, message: problem } })}\n`,
    );
  }
}
