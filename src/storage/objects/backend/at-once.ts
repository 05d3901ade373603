import PQueue from 'p-queue';

/** Runs work for all items, several at a time, and returns the results in order. After a failure, no more work starts. */
export async function atOnce<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const queue = new PQueue({ concurrency: limit });
  try {
    return await queue.addAll(items.map((item) => () => work(item)));
  } finally {
    queue.clear();
  }
}
