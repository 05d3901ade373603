/**
 * The shape of the source, held by a test: who may import whom, no cycles, and the style rules that a linter does not know.
 * Reads `src/` with the TypeScript compiler; imports of types count as imports.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/** From the bottom up. A folder imports itself and folders of the layers below, never a neighbour in its own layer. */
const LAYERS = [
  ['core'],
  ['messages', 'storage'],
  ['memory', 'state', 'streams', 'workspace', 'checkpoints'],
  ['adapters'],
  ['agent'],
  ['server'],
  ['cli'],
] as const;

const FILE_LINES_MAX = 350;
/** Uses what a runtime has, where it has it. */
const NATIVE_BYTES = 'core/bytes.ts';
/** The second reads a data file of a package, which is no file of an agent. */
const FILE_SYSTEM_PLACES = ['storage/', 'core/load-o200k.ts', 'cli/'];
const ANYWHERE = [''];

interface PackageRule {
  readonly packages: RegExp;
  /** Folders below `src/` that may import it. */
  readonly folders: readonly string[];
  /** Loaded with `import()` when it is used: a program that does not use it does not pay for it, or need it at all. */
  readonly lazy?: boolean;
}

const PACKAGES: readonly PackageRule[] = [
  { packages: /^p-queue$/, folders: ANYWHERE },
  // Its types only: at run time it would be half of all modules.
  { packages: /^typebox$/, folders: ['core/', 'state/durable/'], lazy: true },
  { packages: /^ajv$/, folders: ['core/'] },
  { packages: /^fast-json-patch$/, folders: ['core/'] },
  { packages: /^(gpt-tokenizer|@humanwhocodes\/momoa)$/, folders: ['core/'], lazy: true },
  { packages: /^lowdb$/, folders: ['storage/'] },
  { packages: /^re2js$/, folders: ['checkpoints/classify/'], lazy: true },
  { packages: /^@napi-rs\/keyring$/, folders: ['storage/sealing/'], lazy: true },
  { packages: /^(@orama\/stemmers|chrono-node)$/, folders: ['memory/recall/'], lazy: true },
  { packages: /^chokidar$/, folders: ['storage/file/'], lazy: true },
  { packages: /^(pg|pg-.*)$/, folders: ['storage/postgres/'], lazy: true },
  { packages: /^@photostructure\/sqlite$/, folders: ['storage/sqlite/'], lazy: true },
  // Node's own, under the name by which webpack knows a thread.
  { packages: /^worker_threads$/, folders: ['storage/sqlite/'] },
  { packages: /^@aws-sdk\//, folders: ['storage/objects/'], lazy: true },
  // Whoever imports these subpaths uses these packages.
  { packages: /^@langchain\/(core|langgraph-checkpoint)$/, folders: ['adapters/langgraph/'] },
  { packages: /^@openai\/agents-core$/, folders: ['adapters/openai-agents/'], lazy: true },
  { packages: /^(ai|@ai-sdk\/.*)$/, folders: ['agent/model/ai-sdk/'], lazy: true },
  { packages: /^@modelcontextprotocol\//, folders: ['server/mcp/'] },
  { packages: /^(hono|@hono\/.*|ws)$/, folders: ['server/'] },
  { packages: /^htm$/, folders: ['server/dashboard/'] },
  { packages: /^(commander|cli-progress|cli-table3|ora|@clack\/.*)$/, folders: ['cli/'] },
];

/** The only places where what is loaded is known at run time only: `--model provider:name`, and a project's own definitions. */
const COMPUTED_IMPORTS = ['cli/model-option.ts', 'cli/state-definitions.ts'];

interface Import {
  readonly specifier: string;
  readonly line: number;
  readonly dynamic: boolean;
  readonly typeOnly: boolean;
}

interface Source {
  /** Relative to `src/`, with `/`. */
  readonly file: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
  readonly imports: readonly Import[];
  /** `import(expression)` with anything but a text in it. */
  readonly computedImports: readonly number[];
}

function readSource(file: string): Source {
  const text = readFileSync(path.join(SRC, file), 'utf8');
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  const imports: Import[] = [];
  const computedImports: number[] = [];
  visit(tree, (node) => {
    const line = lineOf(tree, node);
    if (ts.isImportDeclaration(node)) {
      imports.push({ ...named(node.moduleSpecifier, line), typeOnly: isTypeOnly(node) });
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
      imports.push({ ...named(node.moduleSpecifier, line), typeOnly: node.isTypeOnly });
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      imports.push({ ...named(node.argument.literal, line), typeOnly: true });
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments;
      if (argument && ts.isStringLiteralLike(argument)) {
        imports.push({ ...named(argument, line), dynamic: true });
      } else computedImports.push(line);
    } else if (ts.isCallExpression(node) && node.expression.getText(tree) === 'import.meta.resolve') {
      if (node.arguments[0]) imports.push({ ...named(node.arguments[0], line), dynamic: true });
    }
  });
  return { file, text, tree, imports, computedImports };
}

function named(specifier: ts.Node, line: number): Import {
  const text = ts.isStringLiteralLike(specifier) ? specifier.text : specifier.getText();
  return { specifier: text, line, dynamic: false, typeOnly: false };
}

function isTypeOnly(node: ts.ImportDeclaration): boolean {
  const clause = node.importClause;
  if (!clause) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const bindings = clause.namedBindings;
  if (clause.name || !bindings || !ts.isNamedImports(bindings)) return false;
  return bindings.elements.every((element) => element.isTypeOnly);
}

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
}

function lineOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll(path.sep, '/'))
  .sort();
const sources = files.filter((file) => /\.[cm]?tsx?$/.test(file)).map(readSource);
const known = new Set(sources.map(({ file }) => file));

function isRelative({ specifier }: Import): boolean {
  return specifier.startsWith('.');
}

/** The file below `src/` that a relative import means. */
function targetOf(from: string, { specifier }: Import): string {
  return path.posix.join(path.posix.dirname(from), specifier).replace(/\.(m?)js$/, '.$1ts');
}

/** `@scope/name/sub` → `@scope/name`. */
function packageOf({ specifier }: Import): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function layerOf(file: string): number {
  const folder = file.split('/')[0]!;
  return LAYERS.findIndex((layer) => (layer as readonly string[]).includes(folder));
}

/** `what` lists each place; `whatToDo` says how to mend it. */
function expectNone(what: readonly string[], whatToDo: string): void {
  expect(what, `${what.join('\n')}\n\nWhat to do: ${whatToDo}\n`).toEqual([]);
}

function everyImport(see: (source: Source, item: Import) => string | null): string[] {
  return sources.flatMap((source) =>
    source.imports.flatMap((item) => {
      const problem = see(source, item);
      return problem === null ? [] : [`src/${source.file}:${item.line} ${problem}`];
    }),
  );
}

function everyNode(see: (node: ts.Node) => string | null): string[] {
  return sources.flatMap(({ file, tree }) => {
    const problems: string[] = [];
    visit(tree, (node) => {
      const problem = see(node);
      if (problem !== null) problems.push(`src/${file}:${lineOf(tree, node)} ${problem}`);
    });
    return problems;
  });
}

describe('layers', () => {
  it('hold every folder of src', () => {
    const folders = new Set(sources.map(({ file }) => file.split('/')[0]!));
    folders.delete('index.ts');
    expectNone(
      [...folders].filter((folder) => layerOf(folder) < 0),
      'give the folder a place in LAYERS of this test and in docs/architecture.md, or move the file into a folder.',
    );
  });

  it('import only what lies below them', () => {
    const problems = everyImport(({ file }, item) => {
      if (!isRelative(item) || file === 'index.ts') return null;
      const target = targetOf(file, item);
      const [from, to] = [file.split('/')[0]!, target.split('/')[0]!];
      if (from === to || layerOf(to) < layerOf(from)) return to === 'index.ts' ? `imports ${target}` : null;
      return `imports ${target}: ${from} may not know ${to}`;
    });
    expectNone(
      problems,
      'move what is shared into a lower layer (core, or a port in storage), or hand it in as an argument. ' +
        `From the bottom up: ${LAYERS.map((layer) => layer.join(', ')).join(' < ')}.`,
    );
  });

  it('import only files that exist', () => {
    const problems = everyImport(({ file }, item) =>
      isRelative(item) && !known.has(targetOf(file, item))
        ? `imports ${item.specifier}, which is no file`
        : null,
    );
    expectNone(problems, 'name the file with its `.js` ending, relative to the importing file.');
  });

  it('leave the file system to storage and cli', () => {
    const problems = everyImport(({ file }, { specifier }) => {
      if (!/^(node:)?fs(\/promises)?$/.test(specifier)) return null;
      return FILE_SYSTEM_PLACES.some((place) => file.startsWith(place)) ? null : `imports ${specifier}`;
    });
    expectNone(problems, 'take a StorageBackend and use its documents, journals or blobs.');
  });

  it('keep messages, and what it needs of core, free of Node', () => {
    const reached = reachedFrom('messages/index.ts');
    const problems = sources
      .filter(({ file }) => reached.has(file))
      .flatMap(({ file, tree, imports }) => [
        ...imports
          .filter((item) => !isRelative(item))
          .map((item) => `src/${file}:${item.line} imports ${item.specifier}`),
        ...(file === NATIVE_BYTES ? [] : globalsOfNode(file, tree)),
      ]);
    expectNone(
      problems,
      `it is bundled for browsers: use src/${NATIVE_BYTES} and src/core/sha256.ts, or what the standard of the language has.`,
    );
  });

  it('have no import cycle', () => {
    expectNone(
      cycles().map((cycle) => cycle.map((file) => `src/${file}`).join(' -> ')),
      'move the type or function that both files need into a third file (type imports count too).',
    );
  });
});

describe('packages', () => {
  it('are imported only in the folder named for them', () => {
    const problems = everyImport(({ file }, item) => {
      if (isRelative(item) || item.specifier.startsWith('node:')) return null;
      const rule = PACKAGES.find(({ packages }) => packages.test(packageOf(item)));
      if (!rule) return `imports ${packageOf(item)}, which has no rule`;
      if (rule.folders.some((folder) => file.startsWith(folder))) return null;
      return `imports ${packageOf(item)}; only ${rule.folders.join(', ')} may`;
    });
    expectNone(
      problems,
      'use the port that hides the package. For a new package: a line in PACKAGES of this test, and its reason in docs/decisions/0004-dependencies.md.',
    );
  });

  it('are loaded only when used, where a rule says so', () => {
    const problems = everyImport((_, item) => {
      const rule = PACKAGES.find(({ packages }) => packages.test(packageOf(item)));
      return rule?.lazy && !item.dynamic && !item.typeOnly ? `imports ${item.specifier} at start` : null;
    });
    expectNone(
      problems,
      'use `await import()` where the package is needed, and `import type` for its types.',
    );
  });

  it('have names that are written down', () => {
    const problems = sources
      .filter(({ file, computedImports }) => computedImports.length > 0 && !COMPUTED_IMPORTS.includes(file))
      .flatMap(({ file, computedImports }) => computedImports.map((line) => `src/${file}:${line}`));
    expectNone(problems, 'write the name as a text in `import()`, so that this test can see it.');
  });
});

describe('files', () => {
  it('have kebab-case names', () => {
    const kebab = /^[a-z0-9]+(-[a-z0-9]+)*$/;
    const problems = sources.filter(
      ({ file }) =>
        !file
          .replace(/(\.d)?\.ts$/, '')
          .split('/')
          .every((part) => kebab.test(part)),
    );
    expectNone(
      problems.map(({ file }) => `src/${file}`),
      'name the file in lower case with hyphens, after its main export.',
    );
  });

  it('are no drawers', () => {
    const problems = files.filter((file) => /(^|\/)(utils?|helpers?|common|misc)(\.ts)?(\/|$)/.test(file));
    expectNone(problems, 'put each function into a file named for what it does.');
  });

  it(`have at most ${FILE_LINES_MAX} lines`, () => {
    const problems = sources
      .map(({ file, text }) => ({ file, lines: text.split('\n').length - 1 }))
      .filter(({ lines }) => lines > FILE_LINES_MAX)
      .map(({ file, lines }) => `src/${file} has ${lines} lines`);
    expectNone(problems, 'split the file: one thing with a name of its own goes into a file of its own.');
  });

  it('export names, one by one', () => {
    const problems = everyNode((node) => {
      if (ts.isExportAssignment(node)) return 'exports a default';
      if (ts.isExportDeclaration(node) && !node.exportClause) return 'exports everything of another file';
      const modifiers = ts.canHaveModifiers(node) ? ts.getModifiers(node) : undefined;
      const isDefault = modifiers?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword);
      return isDefault ? 'exports a default' : null;
    });
    expectNone(problems, 'export by name; an index lists its names.');
  });
});

describe('code', () => {
  it('throws only errors with a code', () => {
    const problems = everyNode((node) => {
      if (!ts.isThrowStatement(node) || !ts.isNewExpression(node.expression)) return null;
      return node.expression.expression.getText() === 'Error' ? 'throws a plain Error' : null;
    });
    expectNone(
      problems,
      'throw a RekindleError with a code of src/core/errors.ts (CONTRIBUTING.md says how to add one).',
    );
  });

  it('has no `any`', () => {
    const problems = everyNode((node) =>
      node.kind === ts.SyntaxKind.AnyKeyword ? 'has the type any' : null,
    );
    expectNone(problems, 'use `unknown` and check it, or a type parameter.');
  });
});

/** The files that come into a bundle with an entry: types leave nothing behind. */
function reachedFrom(entry: string): Set<string> {
  const reached = new Set([entry]);
  for (const file of reached) {
    const source = sources.find((candidate) => candidate.file === file);
    for (const item of source?.imports ?? []) {
      if (isRelative(item) && !item.typeOnly) reached.add(targetOf(file, item));
    }
  }
  return reached;
}

function globalsOfNode(file: string, tree: ts.SourceFile): string[] {
  const found: string[] = [];
  visit(tree, (node) => {
    if (ts.isIdentifier(node) && /^(Buffer|process|setImmediate|require|__dirname)$/.test(node.text))
      found.push(`src/${file}:${lineOf(tree, node)} names ${node.text}`);
  });
  return found;
}

/** Strongly connected components of more than one file (Tarjan), each as one way round. */
function cycles(): string[][] {
  const edges = new Map(
    sources.map(({ file, imports }) => [
      file,
      imports.filter(isRelative).map((item) => targetOf(file, item)),
    ]),
  );
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const enter = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file)!);
    stack.push(file);
    for (const next of edges.get(file) ?? []) {
      if (!index.has(next)) enter(next);
      if (stack.includes(next)) low.set(file, Math.min(low.get(file)!, low.get(next)!));
    }
    if (low.get(file) !== index.get(file)) return;
    const component = stack.splice(stack.indexOf(file));
    if (component.length > 1 || edges.get(file)?.includes(file)) found.push(wayRound(component, edges));
  };
  for (const file of edges.keys()) if (!index.has(file)) enter(file);
  return found;
}

/** The shortest cycle through the first file of a component. */
function wayRound(component: readonly string[], edges: ReadonlyMap<string, readonly string[]>): string[] {
  const start = component[0]!;
  const ways: string[][] = [[start]];
  const seen = new Set<string>();
  for (let way = ways.shift(); way; way = ways.shift()) {
    for (const next of edges.get(way.at(-1)!) ?? []) {
      if (next === start) return [...way, start];
      if (component.includes(next) && !seen.has(next)) {
        seen.add(next);
        ways.push([...way, next]);
      }
    }
  }
  return [...component];
}
