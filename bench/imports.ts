/**
 * What the package weighs where nothing runs yet: `import 'rekindle'`, `--version`, `list`, each in new processes, beside Node alone.
 * Measures the build: `npm run build` first. `IMPORT_RUNS` sets how many processes each row gets; default 9.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { median, ms, printTable, ratio } from './support.js';

const RUNS = Number(process.env['IMPORT_RUNS'] ?? 9);
const DIST = fileURLToPath(new URL('../dist/', import.meta.url));

/** Writes its CPU time when it ends. */
const METER = `process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  process._rawDebug('METER ' + (userCPUTime + systemCPUTime) / 1000);
});`;
/** Writes each module that it loads: in a process of its own, because that costs time. */
const COUNTER = `
  import { register } from 'node:module';
  const source = "import { writeSync } from 'node:fs';" +
    "export async function load(url, context, next) { writeSync(2, 'LOADS ' + url + '\\\\n'); return next(url, context); }";
  register('data:text/javascript,' + encodeURIComponent(source));`;
const asModule = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
const url = (file: string) => JSON.stringify(pathToFileURL(path.join(DIST, file)).href);
const program = path.join(DIST, 'cli/main.js');

const ROWS: readonly [name: string, args: readonly string[]][] = [
  ['node -e 0', ['--eval', '0']],
  ['an empty module', ['--input-type=module', '--eval', 'export {}']],
  ["import 'rekindle'", ['--input-type=module', '--eval', `import ${url('index.js')}`]],
  ["import 'rekindle/messages'", ['--input-type=module', '--eval', `import ${url('messages/index.js')}`]],
  ['rekindle --version', [program, '--version']],
  ['rekindle list', [program, 'list', '--dir', path.join(os.tmpdir(), 'rekindle-bench-none')]],
];

function run(args: readonly string[], watcher: string): string {
  return spawnSync(process.execPath, ['--import', asModule(watcher), ...args], { encoding: 'utf8' }).stderr;
}

function cpuMsOf(args: readonly string[]): number {
  const text = run(args, METER);
  const [, cpuMs] = /METER (\S+)/.exec(text) ?? [];
  if (cpuMs === undefined) throw new Error(`It did not run: node ${args.join(' ')}\n${text}`);
  return Number(cpuMs);
}

function filesOf(args: readonly string[]): number {
  return new Set(run(args, COUNTER).match(/^LOADS file:.*$/gm)).size;
}

if (!existsSync(program)) throw new Error('There is no build: npm run build');
const results: number[][] = ROWS.map(() => []);
// In turns, so that a busy moment of the machine meets every row.
for (let turn = 0; turn < RUNS; turn += 1)
  for (const [row, [, args]] of ROWS.entries()) results[row]!.push(cpuMsOf(args));
const base = median(results[1]!);
printTable(
  `Start in a new process, CPU time, median of ${RUNS}`,
  ['what', 'files', 'CPU ms', 'to an empty module'],
  ROWS.map(([name, args], row) => {
    const cpuMs = median(results[row]!);
    return [name, filesOf(args), ms(cpuMs), ratio(cpuMs, base)];
  }),
);
