/** One program under each way in which TypeScript finds a package; those of Node are run as well. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const WAYS = [
  ['bundler', 'preserve', 'program.ts'],
  ['node16', 'node16', 'program.mts'],
  ['node16', 'node16', 'program.cts'],
  ['nodenext', 'nodenext', 'program.mts'],
  ['nodenext', 'nodenext', 'program.cts'],
  ['node10', 'commonjs', 'program.ts'],
];
const RUN = [];

for (const [moduleResolution, module, file] of WAYS) {
  const outDir = `out-${moduleResolution}`;
  if (file !== 'program.ts') copyFileSync('program.ts', file);
  const compilerOptions = {
    moduleResolution,
    module,
    outDir,
    target: 'ES2022',
    strict: true,
    skipLibCheck: true, // the declarations of typebox alone take half a minute
    types: ['node'],
    ...(moduleResolution === 'node10' && { ignoreDeprecations: '6.0' }),
  };
  writeFileSync('tsconfig.json', JSON.stringify({ compilerOptions, files: [file] }));
  try {
    execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'], { stdio: 'pipe' });
  } catch (failed) {
    throw new Error(`${moduleResolution}, ${file}:\n${failed.stdout}`);
  }
  if (file !== 'program.ts') RUN.push(path.join(outDir, file.replace('ts', 'js')));
}
for (const program of RUN) execFileSync(process.execPath, [program], { stdio: 'inherit' });
