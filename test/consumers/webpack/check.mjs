import { execFileSync } from 'node:child_process';
import path from 'node:path';
import webpack from 'webpack';

const compiler = webpack({
  mode: 'production',
  target: 'node20',
  entry: './src/program.mjs',
  output: { path: path.resolve('out'), filename: 'program.cjs' },
  optimization: { minimize: false },
  // Optional packages that are not installed, and native ones, stay outside.
  externals: Object.fromEntries(
    ['@photostructure/sqlite', 'pg', '@aws-sdk/client-s3', 'ai'].map((name) => [name, `commonjs ${name}`]),
  ),
});
const stats = await new Promise((resolve, reject) =>
  compiler.run((error, done) => (error ? reject(error) : resolve(done))),
);
if (stats.hasErrors()) throw new Error(stats.toString('errors-only'));
execFileSync(process.execPath, ['out/program.cjs'], { stdio: 'inherit' });
