/** Runs what must catch a mutant, and says whether it did. */
import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Mutant } from './mutant.js';
import type { PrivateTree } from './tree.js';

/** `broken`: the change does not load, so that it proves nothing. */
export type Verdict = 'caught' | 'survived' | 'broken';

/** A change may make a test wait for ever: that is noticed, too. */
const TIME_MS = 180_000;
const VITEST = 'node_modules/vitest/vitest.mjs';
/** What the scripts print when they found something; that one ends with 1 may have other reasons. */
const FOUND = /^ *(?:VIOLATION|FOUND) /m;
const NOT_LOADED = /Transform failed|SyntaxError|ReferenceError|PARSE_ERROR|does not provide an export/;

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

export async function judge(tree: PrivateTree, mutant: Mutant): Promise<Verdict> {
  return tree.withMutant(mutant, async () => {
    const ended = await run(tree.root, argumentsFor(mutant, tree.root));
    if (ended.code === 0) return 'survived';
    if (ended.code === null) return 'caught';
    if (mutant.caughtBy[0]!.endsWith('run.ts')) return FOUND.test(ended.output) ? 'caught' : 'broken';
    return (await hasFailedTests(tree.root)) && !NOT_LOADED.test(ended.output) ? 'caught' : 'broken';
  });
}

function argumentsFor({ caughtBy }: Mutant, root: string): string[] {
  const [first, ...rest] = caughtBy;
  if (first!.endsWith('run.ts')) return ['--import', 'tsx', first!, ...rest];
  const report = ['--reporter=dot', '--reporter=json', `--outputFile.json=${reportOf(root)}`];
  return [VITEST, 'run', '--bail=1', '--config', 'test/mutants/vitest.config.ts', ...report, ...caughtBy];
}

function reportOf(root: string): string {
  return path.join(root, 'report.json');
}

/** A failed start of vitest is no failed test. */
async function hasFailedTests(root: string): Promise<boolean> {
  const text = await fs.readFile(reportOf(root), 'utf8').catch(() => '{}');
  await fs.rm(reportOf(root), { force: true });
  const { numFailedTests = 0, numFailedTestSuites = 0 } = JSON.parse(text) as Record<string, number>;
  return numFailedTests + numFailedTestSuites > 0;
}

/** Null as code: it had to be stopped. */
function run(cwd: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let stopped = false;
    const add = (chunk: Buffer) => {
      output = `${output}${chunk.toString('utf8')}`.slice(-100_000);
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    const timer = setTimeout(() => {
      stopped = true;
      process.kill(-child.pid!, 'SIGKILL'); // with the workers that it started
    }, TIME_MS);
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code: stopped ? null : (code ?? 1), output });
    });
  });
}
