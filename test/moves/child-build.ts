/**
 * Child processes that start fast, and that stay the same while somebody edits the sources: what they import is turned into
 * JavaScript once, into a folder with the same tree.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2023,
  verbatimModuleSyntax: true,
};

/** The folder then holds `<entry>.js` for each entry, such as `test/moves/host-child`. */
export async function buildChildren(folder: string, entries: readonly string[]): Promise<void> {
  await fs.mkdir(folder, { recursive: true });
  await fs.writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  await fs.symlink(path.join(PROJECT, 'node_modules'), path.join(folder, 'node_modules'));
  const waiting = [...entries];
  const done = new Set<string>();
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (done.has(name)) continue;
    done.add(name);
    const source = await fs.readFile(path.join(PROJECT, `${name}.ts`), 'utf8');
    const { outputText } = ts.transpileModule(source, { compilerOptions: OPTIONS });
    const target = path.join(folder, `${name}.js`);
    await fs.mkdir(path.dirname(target), { recursive: true });
    await fs.writeFile(target, outputText);
    waiting.push(...importsOf(outputText, path.dirname(name)));
  }
}

/** Modules of the project. */
function importsOf(javaScript: string, folder: string): string[] {
  const { importedFiles } = ts.preProcessFile(javaScript, true, true);
  const own = importedFiles.filter(({ fileName }) => fileName.startsWith('.'));
  return own.map(({ fileName }) => path.join(folder, fileName.replace(/\.js$/, '')));
}
