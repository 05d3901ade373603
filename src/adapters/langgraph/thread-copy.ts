/** Copies the content of one thread into another, which has none. */
import { isRekindleError, RekindleError } from '../../core/errors.js';
import { wholeContent } from './kept-content.js';
import type { ValueStore } from './stored-value.js';
import type { ThreadContents } from './thread-contents.js';
import type { ThreadLog } from './thread-log.js';
import { replaceContent } from './thread-replacement.js';

interface Ends<T> {
  readonly source: T;
  readonly target: T;
}

/** @throws SESSION_EXISTS, and as `replaceContent` */
export async function copyContent(
  threads: Ends<string>,
  logs: Ends<ThreadLog>,
  values: ValueStore,
): Promise<void> {
  try {
    await copyOnce(threads, logs, values);
  } catch (thrown) {
    // The source may have lost records just now, because a part of it was erased; reading again tells.
    if (!isRekindleError(thrown, 'JOURNAL_DAMAGED') && !isRekindleError(thrown, 'BLOB_DAMAGED')) throw thrown;
    await copyOnce(threads, logs, values);
  }
}

async function copyOnce(threads: Ends<string>, logs: Ends<ThreadLog>, values: ValueStore): Promise<void> {
  const index = await logs.source.read();
  // At once, because other writers may change the source meanwhile.
  const kept = wholeContent(index.contents);
  const copy = { thread: threads.source, ...index.last };
  if (kept.checkpoints.length + kept.writes.length === 0) return;
  await replaceContent(logs.target, values, async (target) => {
    if (target.isCopyOf(copy)) return null; // an earlier call was interrupted
    if (!isEmpty(target.contents)) throw exists(threads);
    return { thread: threads.target, source: { log: logs.source, index }, kept, copy };
  });
}

function isEmpty(contents: ThreadContents): boolean {
  return contents.checkpoints().length + contents.written().length === 0;
}

function exists({ source, target }: Ends<string>): RekindleError {
  const text = `The thread ${JSON.stringify(source)} was not copied: ${JSON.stringify(target)} has checkpoints. Choose another target, or delete it first.`;
  return new RekindleError('SESSION_EXISTS', text, { details: { id: target, source } });
}
