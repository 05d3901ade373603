/**
 * The package as others install it: packed, put into small projects, built and run there. Prints `N passed, N failed, N skipped`.
 *
 *     npm run test:consumers                      all of them
 *     npm run test:consumers -- --only hono,next
 *     npm run test:consumers -- --jobs 1 --keep
 */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const STEP_MS = 180_000;
/** Begun first, so that none of them runs on alone at the end. */
const LONGEST = ['next', 'typescript', 'webpack', 'jest-esm', 'jest-commonjs'];
/** What npm says of a tool that the registry does not have; a failure of the package itself is never one. */
const NOT_THERE = /\b(ETARGET|E404|ENOTFOUND|EBADPLATFORM|ECONNREFUSED|ETIMEDOUT)\b/;

interface Outcome {
  readonly name: string;
  readonly verdict: 'passed' | 'failed' | 'skipped';
  readonly text: string;
}

interface Ended {
  readonly ok: boolean;
  readonly output: string;
}

const running = new Set<ChildProcess>();

/** A process with all that it starts, for a bounded time. */
function run(command: string, args: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      detached: true,
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    let output = '';
    child.stdout.on('data', (text: Buffer) => (output += text));
    child.stderr.on('data', (text: Buffer) => (output += text));
    const timer = setTimeout(() => {
      output += `\nIt took longer than ${STEP_MS} ms.`;
      end(child);
    }, STEP_MS);
    const done = (ok: boolean) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ ok, output });
    };
    child.once('error', (thrown) => {
      output += thrown.message;
      done(false);
    });
    child.once('close', (code) => done(code === 0));
  });
}

/** The group that was started, and nothing else. */
function end(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** A project is on its own: nothing of the run around it, such as the options of tsx, reaches it. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, NODE_ENV: __, REKINDLE_MEMORY_DIR: ___, VITEST: ____, ...env } = process.env;
  return { ...env, CI: '1', NEXT_TELEMETRY_DISABLED: '1', DENO_NO_UPDATE_CHECK: '1' };
}

async function pack(folder: string): Promise<string> {
  const built = await run('npm', ['run', 'build'], ROOT);
  if (!built.ok) throw new Error(built.output);
  const packed = await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], ROOT);
  const file = (await fs.readdir(folder)).find((name) => name.endsWith('.tgz'));
  if (!packed.ok || file === undefined) throw new Error(packed.output);
  return path.join(folder, file);
}

async function check(name: string, base: string, tarball: string): Promise<Outcome> {
  const folder = path.join(base, name);
  await fs.cp(path.join(HERE, name), folder, { recursive: true });
  await fs.cp(path.join(HERE, 'shared'), folder, { recursive: true });
  const manifestFile = path.join(folder, 'package.json');
  const manifest = JSON.parse(await fs.readFile(manifestFile, 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const tools = Object.keys(manifest.dependencies);
  manifest.dependencies['rekindle'] = `file:${tarball}`;
  await fs.writeFile(manifestFile, JSON.stringify(manifest));
  const installed = await run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'],
    folder,
  );
  if (!installed.ok) {
    const isMissing = NOT_THERE.test(installed.output);
    return isMissing
      ? { name, verdict: 'skipped', text: `the registry did not give ${tools.join(', ')}` }
      : { name, verdict: 'failed', text: installed.output };
  }
  const { ok, output } = await run('npm', ['run', '--silent', 'check'], folder);
  return { name, verdict: ok ? 'passed' : 'failed', text: output };
}

const { values } = parseArgs({
  options: { only: { type: 'string' }, jobs: { type: 'string', default: '2' }, keep: { type: 'boolean' } },
});
const folders = await fs.readdir(HERE, { withFileTypes: true });
const all = folders.filter((entry) => entry.isDirectory() && entry.name !== 'shared').map(({ name }) => name);
const wanted = values.only?.split(',') ?? [...new Set([...LONGEST, ...all])];
const unknown = wanted.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`There is no project ${unknown.join(', ')}. There are: ${all.join(', ')}.`);
  process.exit(2);
}

const base = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-consumers-'));
process.once('SIGINT', () => process.exit(130));
process.once('exit', () => {
  for (const child of running) end(child);
});
const outcomes: Outcome[] = [];
try {
  const tarball = await pack(base);
  const waiting = [...wanted];
  const work = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const begun = Date.now();
      const outcome = await check(name, base, tarball);
      outcomes.push(outcome);
      const seconds = Math.round((Date.now() - begun) / 1000);
      console.log(`${outcome.verdict.padEnd(8)}${name} (${seconds} s)`);
      if (outcome.verdict !== 'passed') console.log(outcome.text);
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
} finally {
  if (values.keep) console.log(`Kept in ${base}`);
  else await fs.rm(base, { recursive: true, force: true });
}

const count = (verdict: Outcome['verdict']) =>
  outcomes.filter((outcome) => outcome.verdict === verdict).length;
console.log(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`);
process.exitCode = count('failed') > 0 ? 1 : 0;
