/** A writer as a process of its own. Its argument is `WriterSettings & StoreSettings` as JSON; `go <round>`, `pause` and `end` are lines of its input. */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { observeFound, openPostgres, type StoreSettings } from './postgres-store.js';
import { PostgresWriter, type WriterEvent, type WriterSettings } from './postgres-writer.js';

const settings = JSON.parse(process.argv[2] ?? '') as WriterSettings & StoreSettings;
const tell = (event: WriterEvent) => writeSync(1, `${JSON.stringify(event)}\n`);
const storage = openPostgres(settings);
const writer = new PostgresWriter(storage, settings, tell);
observeFound(() => tell({ t: 'found' }));

for await (const line of createInterface({ input: process.stdin })) {
  const [word, round] = line.split(' ');
  if (word === 'go') writer.go(Number(round));
  if (word === 'pause') await writer.pause();
  if (word === 'end') break;
}
await writer.call({ op: 'close' }, () => storage.close());
process.exit(0);
