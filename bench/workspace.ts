/**
 * What the context of a whole workspace costs, as its entries become more: in process, within a budget, and over MCP with a client in another
 * process. Values of about 100 bytes, in files. The hold is the longest turn of the event loop, of the process that selects.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { loadTokenizer } from '../src/core/text-tokens.js';
import { startServer } from '../src/server/rekindle-server.js';
import { FileStorage } from '../src/storage/file/file-storage.js';
import { contextText, selectContext } from '../src/workspace/context/selective-context.js';
import { Workspace } from '../src/workspace/workspace.js';
import { longestHold, writeEntries } from '../test/workspace/many-entries.js';
import { inTempFolder, median, ms, printTable } from './support.js';

const COUNTS = [500, 2_000, 20_000];
const RUNS = 7;
const TOKEN = 'token-of-the-bench';

interface Figures {
  readonly times: number[];
  readonly holds: number[];
}

async function timed(run: () => Promise<unknown>): Promise<Figures> {
  const [times, holds]: [number[], number[]] = [[], []];
  for (let n = -2; n < RUNS; n += 1) {
    const start = performance.now();
    await run();
    const time = performance.now() - start;
    if (n < 0) continue;
    times.push(time);
    holds.push(await longestHold(run));
  }
  return { times, holds };
}

/** A client of another process: what it does with the answer is in the time, and not in the hold. */
async function askInChild(url: string): Promise<number[]> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [url], {
    execArgv: ['--import', import.meta.resolve('tsx')],
  });
  return new Promise((resolve, reject) => {
    child.once('message', (times) => resolve(times as number[]));
    child.once('exit', (code) => reject(new Error(`The client ended with ${code}.`)));
  });
}

async function client(url: string): Promise<void> {
  const requestInit = { headers: { Authorization: `Bearer ${TOKEN}` } };
  const asking = new Client({ name: 'bench', version: '1' });
  await asking.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  const times: number[] = [];
  for (let n = -2; n < RUNS; n += 1) {
    const start = performance.now();
    await asking.callTool({ name: 'get_workspace_context', arguments: {} });
    if (n >= 0) times.push(performance.now() - start);
  }
  await asking.close();
  process.send?.(times);
}

async function measure(folder: string, count: number): Promise<string[][]> {
  const backend = new FileStorage(folder, { durability: 'relaxed' });
  const optional = await writeEntries(backend, count);
  const workspace = new Workspace(backend);
  const request = { agent: 'reader', dependencies: { required: [], optional } };
  const budget = { total: 1_000_000 };
  const cells = ({ times, holds }: Figures) => [ms(median(times)), ms(median(holds))];
  const rows = [
    ['in process', ...cells(await timed(() => contextText(workspace, request)))],
    [
      'in process, 1,000,000 tokens',
      ...cells(await timed(() => selectContext(workspace, { ...request, budget }))),
    ],
  ];
  const server = await startServer({ backend, token: TOKEN, port: 0 });
  rows.push(['over MCP', ms(median(await askInChild(server.url))), '']);
  await server.close();
  await workspace.close();
  await backend.close();
  return rows.map((row) => [String(count), ...row]);
}

const url = process.argv[2];
if (url) await client(url);
else {
  await loadTokenizer();
  const rows: string[][] = [];
  for (const count of COUNTS) rows.push(...(await inTempFolder((folder) => measure(folder, count))));
  printTable('context of a whole workspace', ['entries', 'how', 'time, ms', 'longest hold, ms'], rows);
}
