import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import vm from 'node:vm';
import { build } from 'esbuild';

const usual = { bundle: true, platform: 'node', logLevel: 'error', external: ['@photostructure/sqlite'] };
// The thread of SQLite is a file of its own beside the bundle.
await build({
  ...usual,
  entryPoints: {
    program: 'program.mjs',
    'sqlite-worker': 'node_modules/rekindle/dist/storage/sqlite/sqlite-worker.js',
  },
  format: 'esm',
  outdir: 'out',
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});
mkdirSync('out', { recursive: true });
copyFileSync('esm.json', 'out/package.json');
execFileSync(process.execPath, ['out/program.js'], { stdio: 'inherit' });

await build({
  ...usual,
  entryPoints: ['file-only.js'],
  format: 'cjs',
  outfile: 'out-cjs/program.cjs',
});
execFileSync(process.execPath, ['out-cjs/program.cjs'], { stdio: 'inherit' });

const { outputFiles } = await build({
  ...usual,
  platform: 'browser',
  entryPoints: ['page.mjs'],
  format: 'iife',
  globalName: 'page',
  write: false,
});
const look = vm.runInNewContext(`${outputFiles[0].text}; page.look`, { TextDecoder, TextEncoder, URL });
const { left, request } = await look('[{"role":"user","content":"hi"}]');
assert.equal(left, 0);
assert.equal(JSON.stringify(request).includes('hi'), true);
