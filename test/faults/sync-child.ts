/** Appends, writes and puts one after the other, and says `begin <n>` before and `done <n>` after each. Arguments: address of the store, how many. */
import { writeSync } from 'node:fs';
import { openStorage } from '../../src/storage/open-storage.js';
import { knownBlob, knownDocument, knownRecord } from './known-records.js';

const [place = '', count = '0'] = process.argv.slice(2);
const storage = openStorage(place);
const lease = await storage.leases.acquire(['agent']);
const journal = await storage.openJournal(['agent', 'traces'], { lease });

async function one(n: number): Promise<unknown> {
  if (n % 5 === 3) return storage.documents.write(['agent', 'state'], knownDocument(1, n));
  if (n % 5 === 4) return storage.blobs(['agent', 'artifacts']).put(knownBlob(1, n));
  return journal.append([knownRecord(1, 0, n)]);
}

for (let n = 0; n < Number(count); n += 1) {
  writeSync(1, `begin ${n}\n`);
  await one(n);
  writeSync(1, `done ${n}\n`);
}
await storage.close();
