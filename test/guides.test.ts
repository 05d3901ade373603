/** The pages of docs/guides show the code of their programs, and the files for a deployment fit together. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.join(import.meta.dirname, '..');
const FOLDER = 'docs/guides';
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const PAGES = readdirSync(path.join(ROOT, FOLDER)).filter((name) => name !== 'README.md');
const SHOWN = /^```(?:ts|dockerfile|ini|yaml)\n(.*?)^```/gms;

const { exports } = JSON.parse(read('package.json')) as {
  readonly exports: Record<string, { readonly default?: string }>;
};

/** The sources that a program imports, as the names of the package. */
const NAMES = new Map(
  Object.entries(exports).flatMap(([name, { default: built = '' }]) =>
    built.endsWith('.js') ? [[built.replace('./dist/', 'src/'), name.replace('.', 'rekindle')] as const] : [],
  ),
);

/** The lines of a program, as a reader writes them in a project of their own. */
function linesOf(file: string): string[] {
  const imported = (all: string, source: string) => (NAMES.has(source) ? `'${NAMES.get(source)}'` : all);
  return read(file)
    .replace(/'(?:\.\.\/)+(src\/[^']*)'/g, imported)
    .split('\n');
}

const programsOf = (page: string) =>
  [...new Set([...page.matchAll(/`(examples\/[^`*]+)`/g)].map(([, file]) => file!))].filter((file) =>
    path.basename(file).match(/\.|^Dockerfile$/),
  );

/** A page may show a part of a program, with less indentation. Blank lines separate parts. */
function stands(part: readonly string[], program: readonly string[]): boolean {
  return program.some((line, at) => {
    const indent = ' '.repeat(Math.max(0, line.length - line.trimStart().length - indentOf(part[0]!)));
    return part.every((text, offset) => program[at + offset] === (text === '' ? '' : indent + text));
  });
}

const indentOf = (line: string) => line.length - line.trimStart().length;

/** The parts of a block that stand in no program. */
function strayParts(block: string, programs: readonly (readonly string[])[]): string[] {
  return block
    .trimEnd()
    .split('\n\n')
    .filter((part) => !programs.some((program) => stands(part.split('\n'), program)));
}

describe('the guides', () => {
  it.each(PAGES)('%s shows only code that stands in the programs that it names', (name) => {
    const page = read(`${FOLDER}/${name}`);
    const programs = programsOf(page);
    expect(programs.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
    const lines = programs.map(linesOf);
    const blocks = [...page.matchAll(SHOWN)].map(([, block]) => block!);
    expect(blocks.length).toBeGreaterThan(0);
    expect(blocks.flatMap((block) => strayParts(block, lines))).toEqual([]);
  });

  it('notice a line that differs, and one that is missing', () => {
    const program = ['if (yes) {', '  go();', '', '  stop();', '}'];
    expect(strayParts('go();\n\nstop();\n', [program])).toEqual([]);
    expect(strayParts('go();\nstop();\n', [program])).toEqual(['go();\nstop();']);
    expect(strayParts('go(1);\n', [program])).toEqual(['go(1);']);
  });

  it('are all in the table of README.md, with programs that exist', () => {
    const table = read(`${FOLDER}/README.md`);
    const linked = [...table.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link!);
    expect(linked.sort()).toEqual([...PAGES].sort());
    const programs = readdirSync(path.join(ROOT, 'examples/guides')).map((name) => `examples/guides/${name}`);
    expect(programs.filter((file) => !table.includes(`\`${file}\``))).toEqual([]);
  });
});

describe('examples/deploy', () => {
  const yaml = createRequire(createRequire(import.meta.url).resolve('typedoc'))('yaml') as {
    parseAllDocuments(text: string): { readonly errors: readonly unknown[]; toJS(): unknown }[];
  };
  const container = read('examples/deploy/Dockerfile');
  const unit = read('examples/deploy/desk.service');
  const documents = yaml.parseAllDocuments(read('examples/deploy/kubernetes.yaml'));
  const kubernetes = JSON.stringify(documents.map((document) => document.toJS()));

  it('has a file for Kubernetes that is valid YAML, with the port and the path that the service has', () => {
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    expect(kubernetes).toContain('"httpGet":{"path":"/health","port":8080}');
    expect(read('examples/deploy/service.ts')).toMatch(/'\/health'[\s\S]*process\.once\('SIGTERM'/);
    expect(container).toContain('EXPOSE 8080');
  });

  it('starts the same program everywhere, and sets only variables that it reads', () => {
    const start = /^CMD \["node", "(.+)"\]$/m.exec(container)?.[1];
    expect(unit).toContain(`ExecStart=/usr/bin/node ${start}`);
    const sources = read('examples/deploy/service.ts') + read('examples/deploy/handler.ts');
    const set = [container, unit, read('examples/deploy/kubernetes.yaml')].flatMap((text) => [
      ...text.matchAll(/\b([A-Z]{2,}(?:_[A-Z]+)*)=|- name: ([A-Z_]+)$/gm),
    ]);
    const names = new Set(set.map(([, assigned, named]) => assigned ?? named!));
    names.delete('NODE_ENV'); // libraries read it
    expect([...names].sort()).toEqual(['PORT', 'REKINDLE_MEMORY_DIR']);
    expect([...names].filter((name) => !sources.includes(`'${name}'`))).toEqual([]);
  });

  it('runs only commands of the command line', () => {
    const commands = [...kubernetes.matchAll(/"npx","rekindle","(\w+)"/g)].map(([, command]) => command!);
    expect(commands.length).toBeGreaterThan(0);
    const headings = read('docs/cli.md').split('\n');
    expect(commands.filter((command) => !headings.includes(`## ${command}`))).toEqual([]);
  });
});
