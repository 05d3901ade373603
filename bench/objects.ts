/**
 * What an agent costs in an object store whose every answer takes 20 ms: a turn (a message in, an answer out, both durable), and the
 * restore of 1,000 messages, with and without the cache. The server is on loopback, behind a proxy that waits.
 */
import { openWorkingContext } from '../src/agent/index.js';
import { ObjectsStorage, S3Objects } from '../src/storage/objects/index.js';
import { FaultyHttpProxy } from '../test/support/faulty-http-proxy.js';
import { type S3Server, startS3Server } from '../test/support/s3-server.js';
import { median, ms, printTable, quantile, textOfSize } from './support.js';

const ANSWER_MS = 20;
const TURNS = 40;
/** Fewer with an argument. */
const MESSAGES = Number(process.argv[2] ?? 1_000);
const MESSAGE_BYTES = 1_000;
const RESTORES = 7;
/** The budget is out of reach: what a compaction costs is measured by bench/fit.ts. */
const AGENT = { agentId: 'bench', memory: { compaction: { inputBudgetTokens: 100_000_000 } } };

function open(server: S3Server, proxy: FaultyHttpProxy): ObjectsStorage {
  const { bucket, accessKeyId, secretAccessKey } = server;
  const connection = { endpoint: proxy.url, forcePathStyle: true, accessKeyId, secretAccessKey };
  return new ObjectsStorage(new S3Objects({ bucket, ...connection }));
}

async function turns(storage: ObjectsStorage, count: number, onTurn: (ms: number) => void): Promise<void> {
  const context = await openWorkingContext({ ...AGENT, storage });
  for (let turn = 0; turn < count; turn += 1) {
    const begun = performance.now();
    await context.beginTurn(textOfSize(MESSAGE_BYTES, turn));
    await context.endTurn([{ role: 'assistant', content: textOfSize(MESSAGE_BYTES, turn + 1) }]);
    onTurn(performance.now() - begun);
  }
  await context.close();
}

async function restore(
  server: S3Server,
  proxy: FaultyHttpProxy,
): Promise<{ took: number; requests: number }> {
  const storage = open(server, proxy);
  const before = proxy.requests.length;
  const begun = performance.now();
  const context = await openWorkingContext({ ...AGENT, storage });
  const took = performance.now() - begun;
  const requests = proxy.requests.length - before;
  if (context.messages.length < MESSAGES) throw new Error(`only ${context.messages.length} messages`);
  await context.close();
  await storage.close();
  return { took, requests };
}

const server = await startS3Server();
const proxy = await FaultyHttpProxy.start(server.url);
try {
  const storage = open(server, proxy);
  await turns(storage, (MESSAGES - 2 * TURNS) / 2, () => {});
  proxy.delayMs = ANSWER_MS;
  const taken: number[] = [];
  const requestsBefore = proxy.requests.length;
  await turns(storage, TURNS, (took) => taken.push(took));
  const requests = (proxy.requests.length - requestsBefore) / TURNS;
  await storage.close();
  const cached = [];
  for (let n = 0; n < RESTORES; n += 1) cached.push(await restore(server, proxy));
  const rebuilt = [];
  for (let n = 0; n < RESTORES; n += 1) {
    const clearing = open(server, proxy);
    await clearing.documents.delete(['agents', AGENT.agentId, 'working_context_snapshot.json']);
    await clearing.close();
    rebuilt.push(await restore(server, proxy));
  }
  const row = (what: string, times: number[], asked: number, aim: string) => [
    what,
    ms(median(times)),
    ms(quantile(times, 0.95)),
    asked.toFixed(1),
    aim,
  ];
  printTable(
    `Object store with ${ANSWER_MS} ms an answer, times in ms`,
    ['', 'p50', 'p95', 'requests', 'aim'],
    [
      row('turn', taken, requests, '60 ms'),
      row(
        `restore of ${MESSAGES} messages, with the cache`,
        cached.map(({ took }) => took),
        cached[0]!.requests,
        '300 ms',
      ),
      row(
        'restore from the journal alone',
        rebuilt.map(({ took }) => took),
        rebuilt[0]!.requests,
        '300 ms',
      ),
    ],
  );
} finally {
  await proxy.close();
  await server.close();
}
