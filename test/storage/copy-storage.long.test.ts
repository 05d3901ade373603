/** Every pair of backends, every call interrupted, and what is large. */
import { describe, expect, it } from 'vitest';
import { copyStorage } from '../../src/storage/copy-storage.js';
import { describeCopies, describeInterruptions, describeValues } from './copy-contract.js';
import { appendTo, openStore, PAIRS, QUICK_PAIRS, stateOf, TARGETS } from './copy-kit.js';

const quick = new Set(QUICK_PAIRS.map(({ title }) => title));
describeCopies(PAIRS.filter(({ title }) => !quick.has(title)));
describeInterruptions(TARGETS, 1);
describeValues(TARGETS.filter(({ name }) => name === 'PostgreSQL'));

describe.each(PAIRS)('what is large, from $title', ({ from, to }) => {
  it('arrives whole: documents and blobs of 20 MB, thousands of records, records of megabytes', async () => {
    const [source, target] = [await openStore(from), await openStore(to)];
    const bytes = Buffer.alloc(20 * 1024 * 1024, '0123456789é');
    await source.documents.writeBytes(['d', 'large'], bytes);
    await source.documents.writeBytes(['d', 'cut'], bytes.subarray(0, 8192 * 100 + 1));
    await source.blobs(['b']).put(bytes);
    const records = Array.from({ length: 5_000 }, (_, n) => ({ n }));
    const journal = await source.openJournal(['many']);
    await journal.append(records);
    await journal.close();
    await appendTo(
      source,
      ['large'],
      Array.from({ length: 6 }, (_, n) => ({ n, text: `${n}é`.repeat(1_000_000) })),
    );
    const result = await copyStorage(source, target);
    expect(await stateOf(target)).toStrictEqual(await stateOf(source));
    expect(result).toStrictEqual({ journals: 2, records: 5_006, documents: 2, blobs: 1, skipped: 0 });
  });
});
