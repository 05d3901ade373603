/** The site that `npm run docs` builds: a reference of every entry point in package.json, and the pages of docs/. */
import { readdirSync, readFileSync } from 'node:fs';
import { Converter, KindRouter, OptionDefaults } from 'typedoc';

const { exports } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

/** The guides by task and the pages of topics, in the order of reading. A page that is not listed here comes after them. */
const GUIDES = [
  ...['README', 'first-agent', 'own-loop', 'tools', 'long-task', 'memory', 'people', 'approvals', 'several-agents', 'test-an-agent'],
  ...['deploy', 'operate', 'migrate'],
].map((name) => `docs/guides/${name}.md`);
const TOPICS = [
  ...['hosts', 'web-servers', 'memory', 'facts', 'state', 'shared-state', 'workspace', 'checkpoints'],
  ...['storage', 'scale', 'transcripts', 'legality', 'cli', 'server', 'errors'],
  ...['operate', 'durability', 'data', 'audit', 'erasure', 'redaction', 'sealing', 'security', 'threat-model', 'architecture', 'seeds', 'benchmarks'],
].map((name) => `docs/${name}.md`);

/** README.md first, then by name. TypeDoc would take a page twice that two globs find. */
function pagesIn(folder) {
  const names = readdirSync(new URL(folder, import.meta.url)).filter((name) => name.endsWith('.md'));
  names.sort((a, b) => Number(b === 'README.md') - Number(a === 'README.md') || (a < b ? -1 : 1));
  return names.map((name) => `${folder}/${name}`);
}

/** Of a document, by its path without `.md`. */
function groupOf(path) {
  if (path.startsWith('docs/formats/')) return 'File formats';
  if (path.startsWith('docs/decisions/')) return 'Decisions';
  if (path.startsWith('docs/guides/')) return 'Guides';
  return path.startsWith('docs/') ? 'Topics' : 'Project';
}

/** Documents have the title of their first heading, a group, and the path of their file: `docs/cli.md` is `docs/cli.html`. */
function documentPages(app) {
  const paths = new Map();
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => {
    const path = document.name;
    const title = /^# (.+)$/m.exec(document.content.map(({ text }) => text).join(''));
    paths.set(document, path);
    document.frontmatter.group = groupOf(path);
    document.name = title ? title[1].replaceAll('`', '') : path;
  });
  app.renderer.defineRouter(
    'by-file',
    class extends KindRouter {
      getIdealBaseName(target) {
        return paths.get(target) ?? super.getIdealBaseName(target);
      }
    },
  );
}

/** TypeDoc makes no anchor of code in a heading (`### \`journal\``), so there it becomes plain text. */
function plainHeadings(parser) {
  parser.core.ruler.push('plain_headings', ({ tokens }) => {
    for (const [index, { type }] of tokens.entries()) {
      if (type !== 'heading_open') continue;
      for (const child of tokens[index + 1].children) if (child.type === 'code_inline') child.type = 'text';
    }
  });
}

/**
 * TypeDoc gives up on a line that takes half a second to highlight. On a busy machine the first lines of a language take longer,
 * so they are lines of no page.
 */
function warmHighlighter(parser) {
  const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8');
  let warm = false;
  parser.core.ruler.push('warm_highlighter', () => {
    if (warm) return;
    warm = true;
    for (const [, language, code] of readme.matchAll(/^```(ts|sh)\n(.*?)^```/gms)) {
      for (const line of code.split('\n')) parser.options.highlight(line, language, '');
    }
  });
}

export default {
  name: 'Rekindle',
  includeVersion: true,
  out: 'site',
  tsconfig: 'tsconfig.build.json',
  skipErrorChecking: true, // `npm run typecheck` does it
  entryPoints: Object.values(exports)
    .filter((target) => typeof target !== 'string')
    .map(({ default: built }) => built.replace('./dist/', 'src/').replace(/\.js$/, '.ts')),
  readme: 'README.md',
  projectDocuments: [
    ...new Set([
      ...[...GUIDES, ...pagesIn('docs/guides'), ...TOPICS, ...pagesIn('docs')],
      ...[...pagesIn('docs/formats'), ...pagesIn('docs/decisions')],
    ]),
    ...['CONTRIBUTING.md', 'SECURITY.md', 'UPGRADING.md', 'CHANGELOG.md'],
  ],
  plugin: [documentPages],
  router: 'by-file',
  markdownItLoader: (parser) => {
    plainHeadings(parser);
    warmHighlighter(parser);
  },
  highlightLanguages: [...OptionDefaults.highlightLanguages, 'dockerfile', 'ini', 'xml', 'yaml'],
  excludeExternals: true,
  excludeInternal: true,
  excludePrivate: true,
  excludeProtected: true,
  disableSources: true,
  validation: { invalidLink: true, invalidPath: true, notExported: false, rewrittenLink: true },
  treatWarningsAsErrors: true,
  headings: { readme: false, document: false }, // they begin with their own
  locales: {
    en: { kind_module: 'Entry point', kind_plural_module: 'Entry points' },
  },
  groupOrder: [
    ...['Guides', 'Topics', 'Entry points', 'File formats', 'Decisions', 'Project'],
    ...['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables'],
    ...['Constructors', 'Properties', 'Accessors', 'Methods', '*'],
  ],
  groupReferencesByType: true,
  sortEntryPoints: false,
  navigation: { includeGroups: true, includeCategories: false, includeFolders: false },
  includeHierarchySummary: false,
  useFirstParagraphOfCommentAsSummary: true,
  customCss: 'scripts/site.css',
  searchInComments: true,
  searchInDocuments: true,
  hideGenerator: true,
};
