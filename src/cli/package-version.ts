/** Data from this package's manifest. */
import { readFileSync } from 'node:fs';

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
}

export function packageVersion(): string {
  return manifest().version;
}

/** The oldest supported version of Node: `20.19`. */
export function oldestNode(): string {
  return manifest().engines.node.replace(/^>=\s*/, '');
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Manifest;
}
