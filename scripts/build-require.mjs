/**
 * The build for `require` where a runner or bundler cannot take an ES module from it, such as Jest: `dist/require/`. Node itself takes
 * the ES modules from `require`, so that a process has each module once. Dependencies without a form for `require` are built in.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { writeLicences } from './write-licences.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = path.join(root, 'dist');
const target = path.join(dist, 'require');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/** ES modules only. */
const BUILT_IN = ['chokidar', 'lowdb', 'p-queue', 'typebox'];
const others = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
const external = others.filter((name) => !BUILT_IN.includes(name));

const entries = Object.values(manifest.exports)
  .filter((entry) => entry.require)
  .map(({ import: built, require: wanted }) => [
    path.relative('./dist/require', wanted.default).replace(/\.js$/, ''),
    path.join(root, built.default),
  ]);

/** The page takes an ES module, whatever the server is. */
const PREACT = "require('node:url').pathToFileURL(require.resolve('htm/preact/standalone'))";

const OPTIONAL = new RegExp(`\\bimport\\('(${Object.keys(manifest.peerDependencies).join('|')})'\\)`, 'g');

rmSync(target, { recursive: true, force: true });
const bundle = await rolldown({
  input: Object.fromEntries(entries),
  platform: 'node',
  external: (id) => id.startsWith('node:') || external.some((name) => id === name || id.startsWith(`${name}/`)),
  plugins: [{ name: 'files-and-optional-packages', transform: adapt }],
  logLevel: 'warn',
});
const { output } = await bundle.write({
  dir: target,
  format: 'cjs',
  entryFileNames: '[name].js',
  chunkFileNames: 'parts/[name].js',
  dynamicImportInCjs: false,
});
writeFileSync(path.join(target, 'package.json'), '{ "type": "commonjs" }\n');
copyTypes();
writeLicences(target, output);

/** A thread or a page is a file beside the ES module that starts it; it is used from there. */
function adapt(code, id) {
  if (!id.startsWith(dist) || !/\bimport(?:\.meta\b|\()/.test(code)) return null;
  const place = path.posix.join('..', '..', path.relative(dist, id).replaceAll(path.sep, '/'));
  return code
    .replace(OPTIONAL, (_, name) => requireInTry(name))
    .replaceAll('import.meta.filename', '__filename')
    .replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, import.meta.url)`)
    .replaceAll("import.meta.resolve('htm/preact/standalone')", `new URL('standalone.mjs', ${PREACT}).href`);
}

/** A bundler lets a package be absent where it is required within `try`. */
function requireInTry(name) {
  return `(async () => {
    try {
      const loaded = require('${name}');
      return loaded.__esModule ? loaded : { ...loaded, default: loaded };
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  })()`;
}

/** The same declarations; the folder's `package.json` makes them those of CommonJS modules, which have to name what is an ES module. */
function copyTypes() {
  const esModule = /^import (?:type )?\{ ([^}]+) \} from '(typebox(?:\/[a-z]+)?)';$/gm;
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.d.ts') || /^(require|cli)\b/.test(file)) continue;
    const text = readFileSync(path.join(dist, file), 'utf8').replace(
      esModule,
      (_, names, name) =>
        `import type { ${names.replaceAll('type ', '')} } from '${name}' with { 'resolution-mode': 'import' };`,
    );
    mkdirSync(path.dirname(path.join(target, 'types', file)), { recursive: true });
    writeFileSync(path.join(target, 'types', file), text);
  }
}
