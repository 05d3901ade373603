/**
 * Writes until it is killed, and says what was acknowledged: `rec <index> <seq>`, `doc-start <version>`,
 * `doc <version>`, `blob <number> <digest>`. Arguments: folder or address of the store, seed, round, document version and blob number to go on from;
 * and `early-ack` for a writer that says so before it is so.
 */
import { writeSync } from 'node:fs';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { isStorageUrl, openStorage } from '../../src/storage/open-storage.js';
import { SeededRandom } from '../../src/storage/simulated/seeded-random.js';
import { type KnownRecord, knownBlob, knownDocument, knownRecord } from './known-records.js';

const [place = '', ...numbers] = process.argv.slice(2);
const [seed = 0, round = 0, documentFrom = 0, blobFrom = 0] = numbers.map(Number);
const random = new SeededRandom(seed + round);
const early = numbers.includes('early-ack');
const say = (line: string) => writeSync(1, `${line}\n`);

const segmentBytesMax = 1 << (12 + random.below(8));
const storage = isStorageUrl(place) ? openStorage(place) : new FileStorage(place, { segmentBytesMax });
const lease = await storage.leases.acquire(['agent']);
const journal = await storage.openJournal<KnownRecord>(['agent', 'traces'], { lease });
const blobs = storage.blobs(['agent', 'artifacts']);
let index = 0;
let version = documentFrom;
let blob = blobFrom;
say('ready');

for (;;) {
  const dice = random.below(100);
  if (dice < 10) {
    say(`doc-start ${++version}`);
    await storage.documents.write(['agent', 'state'], knownDocument(seed, version));
    say(`doc ${version}`);
  } else if (dice < 20) {
    const number = ++blob;
    say(`blob ${number} ${(await blobs.put(knownBlob(seed, number))).digest}`);
  } else if (dice < 22) {
    await journal.archiveBefore(random.below((await journal.head()).seq + 2));
  } else {
    await Promise.all(Array.from({ length: dice < 75 ? 1 : 1 + random.below(5) }, append));
  }
}

async function append(): Promise<void> {
  const first = index;
  const count = random.below(8) === 0 ? 2 : 1;
  index += count;
  const records = Array.from({ length: count }, (_, offset) => knownRecord(seed, round, first + offset));
  const appended = journal.append(records);
  const seq = early ? (await journal.head()).seq + count : (await appended).seq;
  for (let offset = 0; offset < count; offset += 1) say(`rec ${first + offset} ${seq - count + 1 + offset}`);
  await appended;
}
