/** The licences of the packages that a build holds. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** @param folder of the build @param output of rolldown */
export function writeLicences(folder, output) {
  const modules = output.flatMap((chunk) => chunk.moduleIds ?? []);
  const packages = new Set(modules.map((id) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1]));
  packages.delete(undefined);
  const texts = [...packages].sort().map((home) => {
    const { name, version } = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8'));
    const licence = readdirSync(home).find((file) => /^licen[cs]e/i.test(file));
    const text = licence ? readFileSync(path.join(home, licence), 'utf8').trim() : 'MIT';
    return `${name} ${version}\n\n${text}\n`;
  });
  writeFileSync(path.join(folder, 'THIRD-PARTY-LICENCES.txt'), texts.join('\n---\n\n'));
}
