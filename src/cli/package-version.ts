/** What the manifest of this package says. */
import { readFileSync } from 'node:fs';

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
}

export function packageVersion(): string {
  return manifest().version;
}

/** The oldest version of Node that it runs on: `20.19`. */
export function oldestNode(): string {
  return manifest().engines.node.replace(/^>=\s*/, '');
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Manifest;
}
