/** Where the programs of a PostgreSQL server are on this machine. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const DEBIAN = '/usr/lib/postgresql';

/** The folder with `initdb` and `postgres`; null when there is none. */
export function postgresBinaries(): string | null {
  if (process.platform === 'win32') return null;
  const folders = [...installedByDebian(), ...installedElsewhere()];
  return folders.find(isComplete) ?? (process.env['REKINDLE_EMBEDDED_POSTGRES'] === '1' ? embedded() : null);
}

/** Newest first. */
function installedByDebian(): string[] {
  if (!existsSync(DEBIAN)) return [];
  const versions = readdirSync(DEBIAN).filter((name) => /^\d+$/.test(name));
  return versions.sort((a, b) => Number(b) - Number(a)).map((name) => path.join(DEBIAN, name, 'bin'));
}

function installedElsewhere(): string[] {
  try {
    const stdio: ('ignore' | 'pipe')[] = ['ignore', 'pipe', 'ignore'];
    return [execFileSync('pg_config', ['--bindir'], { encoding: 'utf8', stdio }).trim()];
  } catch {
    return []; // not on the PATH
  }
}

function isComplete(folder: string): boolean {
  return ['initdb', 'postgres'].every((name) => existsSync(path.join(folder, name)));
}

function embedded(): string | null {
  const { resolve } = createRequire(import.meta.url);
  try {
    const native = path.join(
      path.dirname(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
      '../native',
    );
    linkLibraries(native);
    return isComplete(path.join(native, 'bin')) ? path.join(native, 'bin') : null;
  } catch {
    return null; // no package for this platform, or not installed
  }
}

/** A package holds no links, so its install script makes them; an installation without scripts has none, and the programs do not load. */
function linkLibraries(native: string): void {
  const list = path.join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = path.join(native, '..', target);
    if (!existsSync(link)) symlinkSync(path.basename(source), link);
  }
}
