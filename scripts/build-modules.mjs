/**
 * Puts the compiled modules together: an import of the package loads a few files, not hundreds. What is imported at once is in one part,
 * what is loaded when it is used is in another. Runs after everything that reads the compiled modules one by one.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import { writeLicences } from './write-licences.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = path.join(root, 'dist');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
/** Of many small files; every start loads them. */
const BUILT_IN = ['ajv', 'p-queue'];
const others = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
const external = others.filter((name) => !BUILT_IN.includes(name));

/** Files that are run: by the command, as a thread, as a process. */
const RUN = ['cli/main', 'cli/demo-agent', 'cli/demo-shared-child', 'storage/sqlite/sqlite-worker'];
const exported = Object.values(manifest.exports)
  .filter((entry) => entry.import)
  .map((entry) => path.posix.relative('./dist', entry.import.default).replace(/\.js$/, ''));
const input = Object.fromEntries([...exported, ...RUN].map((name) => [name, path.join(dist, `${name}.js`)]));

/** What an entry imports at once is in one file. The part of the messages is of its own: it runs where there is no Node. */
const messages = importedAtOnce('messages/index');
const core = importedAtOnce('index');
const groups = [
  { name: 'messages', test: (id) => messages.has(id), priority: 2 },
  { name: 'core', test: (id) => (core.has(id) && !startsThread(id)) || id.includes('node_modules'), priority: 1 },
];

const bundle = await rolldown({
  input,
  platform: 'node',
  external: (id) => id.startsWith('node:') || external.some((name) => id === name || id.startsWith(`${name}/`)),
  preserveEntrySignatures: 'allow-extension',
  plugins: [{ name: 'places', transform: markPlaces, renderChunk: finish }],
  logLevel: 'warn',
});
const { output } = await bundle.generate({
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: ({ moduleIds }) => `${moduleIds.some(startsThread) ? 'storage/sqlite' : 'parts'}/[name].js`,
  comments: { jsdoc: false },
  codeSplitting: { groups, includeDependenciesRecursively: false },
});
for (const file of compiled(dist)) rmSync(path.join(dist, file));
for (const { fileName, code } of output) {
  const file = path.join(dist, fileName);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, code);
}
writeLicences(dist, output);

/** Bundlers look for the thread's file beside the one that names it. */
function startsThread(id) {
  return id.endsWith('sqlite-thread.js');
}

/** The files of an entry's static imports. */
function importedAtOnce(entry) {
  const found = new Set([path.join(dist, `${entry}.js`)]);
  for (const file of found)
    for (const [, name] of readFileSync(file, 'utf8').matchAll(/^(?:import|export [^'\n=]*from|\}) ?[^'\n]*'(\.[^']+)';$/gm))
      found.add(path.resolve(path.dirname(file), name));
  return found;
}

/** The modules of `tsc`; the page is served as it is. */
function compiled(folder) {
  const skipped = /^(?:require|server[\\/]dashboard[\\/]page)\b/;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.js') && !skipped.test(file),
  );
}

/** A module that finds files beside it says where it was, since its part is somewhere else. */
function markPlaces(code, id) {
  if (!id.startsWith(dist) || !code.includes('import.meta.url')) return null;
  const place = path.relative(dist, id).replaceAll(path.sep, '/');
  const edits = [];
  visit(parseAst(code), (node) => {
    if (isFileBeside(node)) {
      const file = path.posix.join(path.posix.dirname(place), node.arguments[0].value);
      edits.push([node.arguments[0], `'@@${file}@@'`]);
      return false;
    }
    if (isOwnUrl(node)) edits.push([node, `new URL('@@${place}@@', import.meta.url).href`]);
    return true;
  });
  edits.sort(([left], [right]) => left.start - right.start);
  return edits.reduceRight((text, [{ start, end }, to]) => text.slice(0, start) + to + text.slice(end), code);
}

/** `new URL('./file', import.meta.url)`: bundlers look for these words, so they stay. */
function isFileBeside({ type, callee, arguments: given }) {
  return type === 'NewExpression' && callee.name === 'URL' && typeof given[0]?.value === 'string' && isOwnUrl(given[1]);
}

function isOwnUrl(node) {
  return node?.type === 'MemberExpression' && node.object.type === 'MetaProperty' && node.property.name === 'url';
}

/** `look` returns whether to go into the node. */
function visit(node, look) {
  if (Array.isArray(node)) for (const one of node) visit(one, look);
  else if (node && typeof node === 'object' && (typeof node.type !== 'string' || look(node)))
    for (const value of Object.values(node)) visit(value, look);
}

/** Places, from the file that a module is in now; and no character beyond ASCII, with which a file takes twice the memory and longer to load. */
function finish(code, chunk) {
  const from = path.posix.dirname(chunk.fileName);
  const placed = code.replace(/@@([^@]+)@@/g, (_, place) => {
    const to = path.posix.relative(from, place);
    return to.startsWith('.') ? to : `./${to}`;
  });
  return placed.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
