/**
 * An owner that appends as fast as it can until its lease is lost. Commands on its input, one a line: `go <round>` takes the
 * lease and begins; it answers `held <fence>`, then `rec <index> <seq>` for each acknowledged record, then `end <code>`.
 * Arguments: folder, seed, life of the lease in milliseconds, bytes of a segment; and `no-fence` for one that never looks whether
 * it still holds its lease.
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { isRekindleError } from '../../src/core/errors.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import type { Lease } from '../../src/storage/ports.js';
import { type KnownRecord, knownRecord } from './known-records.js';

const [folder = '', ...numbers] = process.argv.slice(2);
const [seed = 0, ttlMs = 150, segmentBytesMax = 1 << 20] = numbers.map(Number);
const fenced = !numbers.includes('no-fence');
const say = (line: string) => writeSync(1, `${line}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const [word, round] = line.split(' ');
  if (word === 'go') await own(Number(round));
}

async function own(round: number): Promise<void> {
  const storage = new FileStorage(folder, { segmentBytesMax });
  try {
    const lease = await takeLease(storage);
    const journal = await storage.openJournal<KnownRecord>(['agent', 'traces'], { lease });
    say(`held ${lease.fence}`);
    for (let index = 0; fenced || index < 300; index += 1) {
      const { seq } = await journal.append([knownRecord(seed, round, index)]);
      say(`rec ${index} ${seq}`);
    }
    say('end by itself');
  } catch (thrown) {
    say(`end ${isRekindleError(thrown) ? thrown.code : String(thrown)}`);
  } finally {
    await storage.close().catch(() => {});
  }
}

async function takeLease(storage: FileStorage): Promise<Lease> {
  const lease = await storage.leases.acquire(['agent'], { ttlMs });
  if (fenced) return lease;
  const { fence, takenOver, unsafeFence, lost } = lease;
  const nothing = async () => {};
  return {
    fence,
    takenOver,
    unsafeFence,
    lost,
    held: true,
    check: nothing,
    renew: nothing,
    release: () => lease.release(),
  };
}
