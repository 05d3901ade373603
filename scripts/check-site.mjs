/** Looks at every link within `site/`: its file must exist, and its anchor in that file. Lists those that lead nowhere. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';

const SITE = path.resolve(process.argv[2] ?? fileURLToPath(new URL('../site', import.meta.url)));
const ELSEWHERE = /^([a-z][a-z0-9+.-]*:|\/\/)/i;

if (!existsSync(SITE)) {
  console.error('There is no site. Run `npm run docs`.');
  process.exit(1);
}

const pages = new Map();

/** The links and anchors of a page, read once. */
function pageAt(file) {
  if (!pages.has(file)) {
    const html = readFileSync(file, 'utf8');
    const values = (names) =>
      [...html.matchAll(new RegExp(`\\s(?:${names})="([^"]*)"`, 'g'))].map((match) => unescaped(match[1]));
    pages.set(file, { links: values('href|src'), anchors: new Set(values('id|name')) });
  }
  return pages.get(file);
}

function unescaped(text) {
  const named = { amp: '&', lt: '<', gt: '>', quot: '"' };
  return text.replace(/&(#x?[0-9a-f]+|[a-z]+);/gi, (all, name) => {
    if (!name.startsWith('#')) return named[name] ?? all;
    return String.fromCodePoint(name[1] === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1)));
  });
}

/** Why a link leads nowhere, or null. */
function problemOf(from, link) {
  if (link === '' || ELSEWHERE.test(link)) return null;
  const [before, anchor = ''] = link.split('#');
  const target = before.split('?')[0];
  let file = target === '' ? from : path.resolve(path.dirname(from), decodeURIComponent(target));
  if (path.relative(SITE, file).startsWith('..')) return 'leaves the site';
  if (existsSync(file) && statSync(file).isDirectory()) file = path.join(file, 'index.html');
  if (!existsSync(file)) return 'no such file';
  if (anchor === '' || !file.endsWith('.html')) return null;
  return pageAt(file).anchors.has(decodeURIComponent(anchor)) ? null : 'no such anchor';
}

/** The menu and the search are built in the browser, from lists of pages that TypeDoc packs into scripts. */
function packedLinks(name) {
  const file = path.join(SITE, 'assets', name);
  if (!existsSync(file)) return [];
  const packed = /= "([^"]+)"/.exec(readFileSync(file, 'utf8'))?.[1];
  if (packed === undefined) throw new Error(`assets/${name} has another form than expected`);
  const links = [];
  JSON.parse(inflateSync(Buffer.from(packed, 'base64')), (key, value) => {
    if ((key === 'path' || key === 'url') && typeof value === 'string') links.push(value);
    return value;
  });
  return links;
}

const dead = [];
let count = 0;
function look(from, links, shown) {
  for (const link of links) {
    count += 1;
    const problem = problemOf(from, link);
    if (problem !== null) dead.push(`${shown}: ${link} (${problem})`);
  }
}

const files = readdirSync(SITE, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'));
for (const file of files.sort()) look(path.join(SITE, file), pageAt(path.join(SITE, file)).links, file);
for (const name of ['navigation.js', 'search.js']) look(path.join(SITE, 'index.html'), packedLinks(name), name);

for (const line of new Set(dead)) console.error(line);
console.log(`${files.length} pages, ${count} links, ${new Set(dead).size} dead`);
if (dead.length > 0 || files.length === 0) process.exitCode = 1;
