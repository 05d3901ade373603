/**
 * What redaction and sealing cost a turn: two messages of 2,000 bytes, each committed and synced, with and without them, taken by turns. And the
 * detectors alone, beside `JSON.stringify` of the same records.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { JsonValue } from '../src/core/json.js';
import { Redactor } from '../src/core/redaction/redactor.js';
import { type OpenMemory, openMemory } from '../src/memory/open-memory.js';
import { FileStorage } from '../src/storage/file/file-storage.js';
import type { StorageBackend } from '../src/storage/ports.js';
import { withRedaction } from '../src/storage/redacted-storage.js';
import { EnvironmentKeys } from '../src/storage/sealing/environment-keys.js';
import { withSealing } from '../src/storage/sealing/sealed-storage.js';
import { inTempFolder, median, ms, printTable, ratio, textOfSize } from './support.js';

const MESSAGE_BYTES = 2_000;
const TURNS = 300;
const MASTER = new EnvironmentKeys({ REKINDLE_MASTER_KEY: 'ab'.repeat(32) });
const KINDS: Readonly<Record<string, (plain: StorageBackend) => StorageBackend>> = {
  plain: (plain) => plain,
  credentials: (plain) => withRedaction(plain),
  'credentials and personal data': (plain) => withRedaction(plain, { personal: true }),
  sealed: (plain) => withSealing(plain, MASTER),
  'sealed, without credentials': (plain) => withRedaction(withSealing(plain, MASTER)),
};

async function turns(): Promise<void> {
  const rows = await inTempFolder(async (folder) => {
    const opened = new Map<string, OpenMemory>();
    const stores: StorageBackend[] = [];
    for (const [name, wrap] of Object.entries(KINDS)) {
      const storage = wrap(new FileStorage(path.join(folder, name)));
      stores.push(storage);
      const memory = await openMemory(storage, 'bench', { compaction: null });
      await memory.memory.begin('You are a bench.');
      opened.set(name, memory);
    }
    const times = new Map<string, number[]>([...opened.keys()].map((name) => [name, []]));
    for (let turn = 0; turn < TURNS; turn += 1) {
      for (const [name, { memory }] of opened) {
        const start = performance.now();
        const turnId = memory.startTurn();
        await memory.ingestUserMessage(textOfSize(MESSAGE_BYTES, turn), turnId);
        await memory.ingestAssistantResponse({ content: textOfSize(MESSAGE_BYTES, turn + 1) }, turnId);
        times.get(name)!.push(performance.now() - start);
      }
    }
    for (const { close } of opened.values()) await close();
    for (const storage of stores) await storage.close();
    const plain = median(times.get('plain')!);
    return [...times].map(([name, list]) => [name, ms(median(list)), ratio(median(list), plain)]);
  });
  printTable('a turn on a redacted or sealed store', ['store', 'p50', 'against plain'], rows);
}

/** Records of real conversations where they are there, else text of a bench. */
function records(): JsonValue[] {
  const folder = path.join(import.meta.dirname, '../../shared/corpus/claude-code');
  if (!existsSync(folder))
    return Array.from({ length: 500 }, (_, index) => ({ text: textOfSize(4_000, index) }));
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return files.flatMap((name) =>
    readFileSync(path.join(folder, name), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as JsonValue),
  );
}

function detectors(): void {
  const all = records();
  const timeOf = (work: (record: JsonValue) => unknown) => {
    const start = performance.now();
    for (const record of all) work(record);
    return performance.now() - start;
  };
  const bytes = all.reduce<number>((sum, record) => sum + JSON.stringify(record).length, 0);
  const [credentials, both] = [new Redactor(), new Redactor({ personal: true })];
  const times = Array.from({ length: 5 }, () => [
    timeOf((record) => JSON.stringify(record)),
    timeOf((record) => credentials.json(record)),
    timeOf((record) => both.json(record)),
  ]);
  const [json, one, two] = [0, 1, 2].map((column) => median(times.map((row) => row[column]!)));
  const mb = (time: number) => `${(bytes / 1e3 / time).toFixed(0)} MB/s`;
  printTable(
    'the detectors alone',
    ['work', 'speed', 'against JSON.stringify'],
    [
      ['JSON.stringify', mb(json!), ratio(json!, json!)],
      ['credentials', mb(one!), ratio(one!, json!)],
      ['credentials and personal data', mb(two!), ratio(two!, json!)],
    ],
  );
}

detectors();
await turns();
