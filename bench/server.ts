/**
 * The server under load: 100 WebSocket clients, and requests at a fixed rate, 80 % reads and 20 % writes; every client checks that it is
 * told each change of its root once and in order. Server, requests and WebSockets are three processes on one machine, so they share its
 * processors. Beside it, at the same rate: a bare node:http server.
 *
 * `--seconds 30 --rate 2000 --roots 10`; `--profile FOLDER` leaves a CPU profile of each server.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import buildCli, { CLI_BUILD } from '../test/support/build-cli.js';
import {
  type EventFigures,
  type FromChild,
  HttpLoad,
  type LoadFigures,
  RequestMix,
  type Target,
  type ToChild,
} from './server-client.js';
import { inTempFolder, ms, printTable, quantile, textOfSize } from './support.js';

const CLIENTS = 100;
const RATES = [2_000, 1_500, 1_000, 500];
const STEADY_MS = 50;
const WARM_SECONDS = 3;
const SHORT_SECONDS = 10;
const STOP_MS = 8_000;

const { values: given } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    rate: { type: 'string', default: '2000' },
    roots: { type: 'string', default: '10' },
    profile: { type: 'string' },
  },
});
const seconds = positive('seconds');
const rate = positive('rate');
const rootCount = positive('roots');

function positive(name: 'seconds' | 'rate' | 'roots'): number {
  const number = Number(given[name]);
  if (Number.isInteger(number) && number > 0) return number;
  throw new RangeError(`--${name} takes a whole number from 1`);
}

/** Whatever ends this process ends them too, and leaves no folder. */
const running = new Set<ChildProcess>();
const folders = new Set<string>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

function own<T extends ChildProcess>(child: T): T {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
  clearTimeout(timer);
}

async function startServer(folder: string): Promise<{ child: ChildProcess; target: Target }> {
  const main = path.join(CLI_BUILD, 'cli', 'main.js');
  const profile = given.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${given.profile}`];
  const args = [...profile, main, 'serve', '--dir', folder, '--port', '0', '--json'];
  const child = own(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
  const line = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
    });
    child.once('exit', (code) => reject(new Error(`The server ended with ${code}.`)));
  });
  return { child, target: JSON.parse(line) as Target };
}

class Helper {
  readonly child: ChildProcess;

  constructor(role: 'events' | 'bare') {
    const script = fileURLToPath(new URL('./server-client.ts', import.meta.url));
    this.child = own(fork(script, [role], { execArgv: ['--import', import.meta.resolve('tsx')] }));
  }

  say(message: ToChild): void {
    this.child.send(message);
  }

  answer(): Promise<FromChild> {
    return new Promise((resolve, reject) => {
      this.child.once('message', (message: FromChild) => resolve(message));
      this.child.once('exit', (code) => reject(new Error(`A process of the bench ended with ${code}.`)));
    });
  }
}

function processFile(pid: number | undefined, name: 'stat' | 'status'): string {
  const file = `/proc/${pid}/${name}`;
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** User and system; NaN where there is no /proc. */
function cpuSeconds({ pid }: { pid?: number | undefined }): number {
  const fields = processFile(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function residentMb({ pid }: ChildProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(processFile(pid, 'status'))?.[1]) / 1024;
}

interface Measured {
  readonly title: string;
  readonly rate: number;
  readonly seconds: number;
  readonly load: LoadFigures;
  readonly events: EventFigures | null;
  /** Versions of all roots that came to be, less the writes that were acknowledged: 0. */
  readonly unaccounted: number;
  /** Of the server, of the requests' process and of the WebSockets' process, while the load ran. */
  readonly cpu: readonly [server: number, requests: number, sockets: number];
  readonly rssMb: number;
}

interface Scenario {
  readonly title: string;
  readonly rate: number;
  readonly seconds: number;
  readonly roots: number;
}

async function measureServer(scenario: Scenario): Promise<Measured> {
  process.stdout.write(`${scenario.title}: ${scenario.rate} a second for ${scenario.seconds} s …\n`);
  return inTempFolder(async (folder) => {
    folders.add(folder);
    const { child, target } = await startServer(folder);
    const sockets = new Helper('events');
    const load = new HttpLoad(target);
    try {
      return await underLoad(scenario, { server: child, target, sockets, load });
    } finally {
      load.close();
      await stop(sockets.child);
      await stop(child);
      folders.delete(folder);
    }
  });
}

interface Parts {
  readonly server: ChildProcess;
  readonly target: Target;
  readonly sockets: Helper;
  readonly load: HttpLoad;
}

async function underLoad(scenario: Scenario, { server, target, sockets, load }: Parts): Promise<Measured> {
  const roots = Array.from({ length: scenario.roots }, (_, n) => `root-${n}`);
  for (const id of roots) await call(target, '/sessions', { id, status: 'running' });
  const mix = new RequestMix(roots);
  const first = await load.all(mix.firstWrites(performance.now()));
  const subscribers = Array.from({ length: CLIENTS }, (_, n) => roots[n % roots.length]!);
  sockets.say({ say: 'subscribe', target, roots: subscribers });
  await sockets.answer();
  const warm = await load.atRate(mix, Math.ceil(scenario.rate / 4), WARM_SECONDS);
  const processes = [server, process, sockets.child];
  const before = processes.map(cpuSeconds);
  const figures = await load.atRate(mix, scenario.rate, scenario.seconds);
  const cpu = processes.map((one, index) => cpuSeconds(one) - before[index]!);
  const rssMb = residentMb(server);
  const finals: Record<string, number> = {};
  for (const root of roots) {
    const state = await call(target, `/sessions/${root}/state`);
    finals[root] = Number(state['global_version']);
  }
  sockets.say({ say: 'finish', finals });
  const answer = await sockets.answer();
  if (answer.say !== 'finished') throw new TypeError('The WebSocket clients did not finish.');
  const versions = Object.values(finals).reduce((sum, version) => sum + version, 0);
  const acknowledged = [...load.acknowledged.values()].reduce((sum, count) => sum + count, 0);
  return {
    ...scenario,
    load: { ...figures, errors: [...first.errors, ...warm.errors, ...figures.errors] },
    events: answer.events,
    unaccounted: versions - acknowledged,
    cpu: [cpu[0]!, cpu[1]!, cpu[2]!],
    rssMb,
  };
}

async function call({ url, token }: Target, at: string, body?: object): Promise<Record<string, unknown>> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const init = body ? { method: 'POST', body: JSON.stringify(body), headers } : { headers };
  const answer = await fetch(`${url}${at}`, init);
  if (!answer.ok) throw new Error(`${at}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

async function measureBare(): Promise<Measured> {
  const bare = new Helper('bare');
  const answer = await bare.answer();
  if (answer.say !== 'ready') throw new TypeError('The bare server did not start.');
  const load = new HttpLoad({ url: answer.url, token: 'no-token-is-needed' });
  try {
    const mix = new RequestMix(['root-0']);
    await load.atRate(mix, Math.ceil(rate / 4), WARM_SECONDS);
    const before = [cpuSeconds(bare.child), cpuSeconds(process)];
    const figures = await load.atRate(mix, rate, Math.min(seconds, SHORT_SECONDS));
    const cpu = [cpuSeconds(bare.child) - before[0]!, cpuSeconds(process) - before[1]!, 0] as const;
    const title = 'bare node:http, fixed answer';
    const run = { title, rate, seconds: Math.min(seconds, SHORT_SECONDS), events: null, unaccounted: 0 };
    return { ...run, load: figures, cpu, rssMb: residentMb(bare.child) };
  } finally {
    load.close();
    await stop(bare.child);
  }
}

/** What one durable write costs at the least, one after the other. */
async function measureSync(): Promise<string> {
  return inTempFolder(async (folder) => {
    const file = await open(path.join(folder, 'sync'), 'w');
    const bytes = Buffer.from(textOfSize(300, 1));
    const times: number[] = [];
    for (let n = 0; n < 300; n += 1) {
      const start = performance.now();
      await file.write(bytes);
      await file.datasync();
      times.push(performance.now() - start);
    }
    await file.close();
    return `append of 300 bytes and fdatasync: p50 ${ms(quantile(times, 0.5))} ms, p99 ${ms(quantile(times, 0.99))} ms`;
  });
}

function busy(): string {
  const loads = os.loadavg().map((load) => load.toFixed(2));
  return `load average ${loads.join(' ')} on ${os.cpus().length} processors`;
}

function print(all: readonly Measured[]): void {
  const spread = (times: readonly number[]) => [0.5, 0.99, 1].map((share) => ms(quantile(times, share)));
  printTable(
    'Requests; milliseconds from when a request was due: p50, p99, max',
    ['', 'asked a second', 's', 'answered a second', 'errors', 'not sent', 'reads', 'writes'],
    all.map(({ title, load, ...run }) => [
      title,
      run.rate,
      run.seconds,
      load.achieved.toFixed(0),
      load.errors.length,
      load.unsent,
      spread(load.reads).join(' / '),
      spread(load.writes).join(' / '),
    ]),
  );
  printTable(
    `Events to ${CLIENTS} WebSocket clients, from before the first request to after the last; delay in ms from the time of the change: p50, p99, max`,
    [
      '',
      'expected',
      'received',
      'lost',
      'doubled',
      'failures',
      'delay',
      'versions without an acknowledgement',
    ],
    all.flatMap(({ title, events, unaccounted }) => {
      if (!events) return [];
      const { expected, received, lost, doubled, failures, delays } = events;
      return [[title, expected, received, lost, doubled, failures.length, delays.join(' / '), unaccounted]];
    }),
  );
  printTable(
    'Processes while the load ran',
    ['', 'CPU s of the server', 'share of a processor', 'RSS, MB', 'CPU s: requests', 'CPU s: WebSockets'],
    all.map(({ title, cpu, rssMb, ...run }) => [
      title,
      cpu[0].toFixed(1),
      `${((cpu[0] / run.seconds) * 100).toFixed(0)} %`,
      rssMb.toFixed(0),
      cpu[1].toFixed(1),
      cpu[2].toFixed(1),
    ]),
  );
}

const p99OfReads = ({ load }: Measured) => quantile(load.reads, 0.99);

buildCli();
process.stdout.write(`\nBefore: ${busy()}; ${await measureSync()}\n`);
const all = [await measureBare()];
const title = `${rootCount} roots, ${CLIENTS} clients`;
const main = await measureServer({ title, rate, seconds, roots: rootCount });
all.push(main);
let steady = p99OfReads(main) < STEADY_MS ? main : null;
const short = { seconds: Math.min(seconds, SHORT_SECONDS), roots: rootCount };
for (const lower of RATES.filter((one) => one < rate)) {
  if (steady) break;
  const measured = await measureServer({ title: `the same, at ${lower}`, rate: lower, ...short });
  all.push(measured);
  if (p99OfReads(measured) < STEADY_MS) steady = measured;
}
const oneRoot = `1 root, ${CLIENTS} clients`;
all.push(await measureServer({ title: oneRoot, rate, seconds: short.seconds, roots: 1 }));
print(all);
const steadyText = steady ? `${steady.rate} a second` : 'none of those tried';
process.stdout.write(
  `\nHighest rate with p99 of reads under ${STEADY_MS} ms: ${steadyText}\nAfter: ${busy()}\n`,
);
const wrong = all.flatMap(({ title, load, events, unaccounted }) => [
  ...[...load.errors, ...(events?.failures ?? [])].slice(0, 5).map((text) => `${title}: ${text}`),
  ...(unaccounted === 0 || events === null ? [] : [`${title}: ${unaccounted} versions too many`]),
  ...(events && events.lost + events.doubled > 0 ? [`${title}: events lost or doubled`] : []),
]);
for (const line of wrong) process.stdout.write(`WRONG ${line}\n`);
if (wrong.length > 0) process.exitCode = 1;
