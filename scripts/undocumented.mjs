/**
 * Prints the exported names that have no docstring, by entry point. A name that several entry points export counts once, at the
 * first of them. `--json` prints the lists as JSON.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
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

function undocumented() {
  const entries = entryPoints();
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    options,
  );
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
