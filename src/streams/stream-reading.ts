/** Gathers the content of a stream from a position on: what it has from its source, then its own. */
import { RekindleError } from '../core/errors.js';
import { clipped, type StreamPiece, sizeOf } from './stream-pieces.js';
import type { OpenStream, StreamPool } from './stream-pool.js';
import type { StreamPayload } from './stream-record.js';
import type { StreamState } from './stream-state.js';

/** Whole pieces without a gap, up to a size; at least one. */
export class Gathered {
  readonly #sizeMax: number;
  readonly pieces: StreamPiece[] = [];
  position: number;
  #size = 0;

  constructor(from: number, sizeMax: number) {
    this.position = from;
    this.#sizeMax = sizeMax;
  }

  get isFull(): boolean {
    return this.#size >= this.#sizeMax;
  }

  /** @throws JOURNAL_DAMAGED if what lies before the piece is lost */
  add(piece: StreamPiece): void {
    if (piece.start !== this.position) throw lost(this.position);
    this.pieces.push(piece);
    this.#size += sizeOf(piece.payload);
    this.position = piece.end;
  }

  /** All pieces as one. */
  payload(kind: StreamPayload['kind']): StreamPayload {
    const payloads = this.pieces.map((piece) => piece.payload);
    if (kind === 'messages') {
      const messages = payloads.flatMap((payload) => (payload.kind === 'messages' ? payload.messages : []));
      return { kind, messages };
    }
    const parts = payloads.flatMap((payload) => (payload.kind === 'bytes' ? [payload.bytes] : []));
    return { kind, bytes: parts.length === 1 ? parts[0]! : Buffer.concat(parts) };
  }
}

/**
 * Gathers up to a position, or until it is full. The sources of a fork are kept for it, also when they were deleted.
 * @throws JOURNAL_DAMAGED if content is lost
 */
export async function gather(
  pool: StreamPool,
  { log }: OpenStream,
  { fork }: StreamState,
  gathered: Gathered,
  to: number,
): Promise<void> {
  if (fork && gathered.position < fork.at) {
    await pool.use(fork.path, async (source) => {
      const state = await source.log.current();
      if (state?.id !== fork.id) throw lost(gathered.position);
      await gather(pool, source, state, gathered, Math.min(to, fork.at));
    });
  }
  if (gathered.isFull || gathered.position >= to) return;
  for await (const piece of log.piecesFrom(gathered.position)) {
    const part = clipped(piece, gathered.position, to);
    if (part) gathered.add(part);
    if (gathered.isFull || gathered.position >= to) return;
  }
  throw lost(gathered.position);
}

function lost(position: number): RekindleError {
  return new RekindleError('JOURNAL_DAMAGED', `The content of a stream is lost at position ${position}.`, {
    details: { position },
    advice: 'Read on from the end of the stream. `rekindle verify` shows the damage.',
  });
}
