/**
 * Compiles the command line once for all its tests: each command is a process of its own, and one that compiles as it loads
 * takes five times as long to start. Only what changed is compiled again.
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Beside `dist`, so that what is published is what `npm run build` made. */
export const CLI_BUILD = path.join(ROOT, 'dist-test');

export default function buildCli(): void {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const info = path.join(CLI_BUILD, 'build.tsbuildinfo');
  const options = [
    '-p',
    'tsconfig.build.json',
    '--outDir',
    CLI_BUILD,
    '--incremental',
    '--tsBuildInfoFile',
    info,
  ];
  const built = spawnSync(process.execPath, [tsc, ...options], { cwd: ROOT, encoding: 'utf8' });
  if (built.status !== 0)
    throw new Error(`The command line does not compile.\n${built.stdout}${built.stderr}`);
  const copied = spawnSync(process.execPath, ['scripts/copy-page.mjs', CLI_BUILD], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  if (copied.status !== 0) throw new Error(copied.stderr);
}
