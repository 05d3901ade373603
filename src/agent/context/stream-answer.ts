/** Passes the chunks of a recorded stream to a reader. */
import { AsyncQueue } from '../../core/async-queue.js';
import { RekindleError } from '../../core/errors.js';
import type { RecordedAnswer, RecordOptions } from './answer.js';

/** @param record records the stream and calls `onChunk` with each chunk. A reader that leaves early ends it. */
export async function* streamAnswer<Chunk>(
  record: (options: RecordOptions) => Promise<RecordedAnswer>,
): AsyncGenerator<Chunk, RecordedAnswer> {
  const chunks = new AsyncQueue<Chunk>();
  const onChunk = async (chunk: unknown) => {
    if (chunks.hasLeft) throw new RekindleError('ABORTED', 'The reader left the stream.');
    chunks.push(chunk as Chunk);
    await chunks.drained();
  };
  const recording = record({ onChunk });
  void recording.then(
    () => chunks.end(),
    (thrown: unknown) => chunks.end({ thrown }),
  );
  let isWhole = false;
  try {
    yield* chunks;
    isWhole = true;
  } finally {
    if (!isWhole) await recording.catch(() => {}); // the reader has left, or got the error
  }
  return recording;
}
