/** Changes are told, whoever makes them and however closely they follow each other. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { FileStorage } from '../../../src/storage/file/file-storage.js';
import { fileFixture } from './file-fixture.js';

it('the last of changes that follow each other closely is told, too', async () => {
  const { root } = await fileFixture();
  const [writer, reader] = [new FileStorage(root), new FileStorage(root)];
  onTestFinished(async () => {
    await Promise.all([writer.close(), reader.close()]);
  });
  const journals = await Promise.all(
    Array.from({ length: 12 }, (_, n) => writer.openJournal<{ n: number }>(['watched', `j${n}`])),
  );
  for (const journal of journals) await journal.append([{ n: 0 }]);
  const told = new Map<string, number>();
  await reader.watch(['watched'], ({ path }) => told.set(path, performance.now()));
  // Around the time for which further changes of a file are left untold by what watches.
  const last = await Promise.all(
    journals.map(async (journal, n) => {
      await journal.append([{ n: 1 }]);
      await sleep(30 + 2 * n);
      await journal.append([{ n: 2 }]);
      return performance.now();
    }),
  );
  await sleep(400);
  const missed = last.flatMap((at, n) => ((told.get(`j${n}.jsonl`) ?? 0) >= at ? [] : [30 + 2 * n]));
  expect(missed).toEqual([]);
});
