/**
 * Prints the exported names that have no docstring, by entry point. A name that several entry points export counts once, at the
 * first of them. `--json` prints the lists as JSON.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** `rekindle/agent` → the source behind it. */
function entryPoints() {
  const { name, exports } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));
  return Object.entries(exports)
    .filter(([, target]) => typeof target !== 'string')
    .map(([subpath, { default: built }]) => {
      const source = built.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
      return { name: name + subpath.slice(1), file: ROOT + source };
    });
}

/** Reads only what the entry points pass on: docstrings need no types, so imports are not followed. */
function sourcesOf(files) {
  const options = { target: ts.ScriptTarget.ES2023, noLib: true, types: [] };
  const host = ts.createCompilerHost(options, true);
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text, parent }) => {
      if (!ts.isExportDeclaration(parent) || !text.startsWith('.')) return { resolvedModule: undefined };
      const resolvedFileName = fileURLToPath(new URL(text.replace(/\.js$/, '.ts'), pathToFileURL(from)));
      return { resolvedModule: { resolvedFileName, extension: ts.Extension.Ts, isExternalLibraryImport: false } };
    });
  return ts.createProgram(files, options, host);
}

function undocumented() {
  const entries = entryPoints();
  const program = sourcesOf(entries.map(({ file }) => file));
  const checker = program.getTypeChecker();
  const seen = new Set();
  return entries.map(({ name, file }) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file));
    const names = checker
      .getExportsOfModule(module)
      .filter((exported) => {
        const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
        if (seen.has(symbol)) return false;
        seen.add(symbol);
        return symbol.getDocumentationComment(checker).length === 0;
      })
      .map((exported) => exported.name)
      .sort();
    return { entryPoint: name, names };
  });
}

const found = undocumented();
if (process.argv.includes('--json')) {
  console.log(JSON.stringify(found));
} else {
  for (const { entryPoint, names } of found) {
    if (names.length > 0) console.log(`${entryPoint} (${names.length})\n  ${names.join('\n  ')}`);
  }
  const total = found.reduce((sum, { names }) => sum + names.length, 0);
  console.log(`${total} exported names have no docstring.`);
}
