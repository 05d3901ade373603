/** What `rekindle doctor` looks at: who can reach a store, and what in it needs a person. Only reads. */
import { spawnSync } from 'node:child_process';
import { type Dirent, existsSync, type Stats } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../core/errors.js';
import { TokenBook } from '../server/access/token-book.js';
import { unfinishedErasures } from '../storage/erasure/erasure-marker.js';
import type { StorageBackend } from '../storage/ports.js';

export interface Finding {
  readonly level: 'ok' | 'warning' | 'problem';
  readonly check: string;
  readonly message: string;
  /** What to do; null where nothing is to be done. */
  readonly advice: string | null;
}

const NODE_MIN = [20, 19] as const;
const SHOWN_MAX = 3;
/** Of the modes of a file: what anyone but its owner may do. */
const OTHERS = 0o077;
/** Kept for a person; see `docs/formats/README.md`. */
const KEPT = /\.torn-\d+-|\.(?:damaged|clean)-[0-9a-f]{8}$|\.set-aside-[0-9a-f]+$|\.refused-[0-9a-f]+$/;

export function checkNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1]);
  const wanted = NODE_MIN.join('.');
  return isOld
    ? {
        level: 'problem',
        check: 'node',
        message: `Node ${version} is too old.`,
        advice: `Use Node ${wanted} or newer.`,
      }
    : ok('node', `Node ${version}.`);
}

/** Owners, modes, links and files that were kept, of everything below a folder. */
export async function checkFolder(root: string): Promise<Finding[]> {
  const seen = await scan(root);
  if (!seen) return [ok('folder', `${root} does not exist yet. The first agent makes it.`)];
  const quoted = JSON.stringify(root);
  const findings = [
    told('owner', seen.foreign, 'belong to another user', `Take them over: chown -R "$(id -un)" ${quoted}`),
    told(
      'modes',
      seen.loose,
      'can be read or changed by other users',
      `Close them: chmod -R go-rwx ${quoted}`,
    ),
    told(
      'links',
      seen.links,
      'are links, or have a second name elsewhere. They are not written',
      'Replace each by a copy of its content.',
    ),
    told(
      'kept',
      seen.kept,
      'were kept when something was damaged or refused',
      'Look at them, and delete them when you need them no more.',
    ),
  ].flatMap((finding) => finding ?? []);
  return [ok('folder', `${root}: ${seen.files} files.`), ...findings];
}

/** Whether Git would take the folder into a commit. Nothing is told where there is no Git. */
export function checkGit(root: string): Finding[] {
  if (!existsSync(root) || !isInRepository(root)) return [];
  const { status, error } = spawnSync('git', ['check-ignore', '--quiet', root], { cwd: path.dirname(root) });
  if (error || (status !== 0 && status !== 1)) return [];
  if (status === 0) return [ok('git', 'Git ignores the folder.')];
  return [
    warning(
      'git',
      `Git does not ignore ${root}: a commit can take conversations with it.`,
      `Add a line to .gitignore: ${path.basename(root)}/`,
    ),
  ];
}

/** The server's own token, and those that were made for others. */
export async function checkTokens(storage: StorageBackend): Promise<Finding[]> {
  try {
    await storage.documents.assertPrivate?.(['server', 'token.json']);
    const tokens = await new TokenBook(storage).list();
    const expired = tokens.filter(({ hasExpired }) => hasExpired);
    const endless = tokens.filter(({ expiresAt }) => expiresAt === null);
    return [
      ok('tokens', `${tokens.length} tokens beside the server's own.`),
      told(
        'tokens',
        expired.map(({ id }) => id),
        'have expired',
        'Remove them: rekindle token revoke ID',
      ),
      told(
        'tokens',
        endless.map(({ id }) => id),
        'never end',
        'Give them an end: rekindle token create --expires 90d, then revoke the old ones',
      ),
    ].flatMap((finding) => finding ?? []);
  } catch (thrown) {
    return [
      problem('tokens', messageOf(thrown), 'Only the user of the server may read the files in server/.'),
    ];
  }
}

export async function checkErasures(storage: StorageBackend): Promise<Finding[]> {
  const unfinished = await unfinishedErasures(storage);
  if (unfinished.length === 0) return [];
  const targets = unfinished.map(({ target }) => Object.entries(target).flat().join(' '));
  return [
    problem(
      'erasures',
      `${targets.length} erasures were not finished: ${targets.join(', ')}.`,
      'Finish them: rekindle erase --resume',
    ),
  ];
}

interface Seen {
  files: number;
  readonly foreign: string[];
  readonly loose: string[];
  readonly links: string[];
  readonly kept: string[];
}

/** Null when there is no such folder. */
async function scan(root: string): Promise<Seen | null> {
  const seen: Seen = { files: 0, foreign: [], loose: [], links: [], kept: [] };
  const stat = await fs.stat(root).catch(() => null);
  if (!stat) return null;
  note(seen, '.', stat);
  await scanBelow(root, '', seen);
  return seen;
}

async function scanBelow(root: string, below: string, seen: Seen): Promise<void> {
  const entries: Dirent[] = await fs.readdir(path.join(root, below), { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const place = path.join(below, entry.name);
    const stat = await fs.lstat(path.join(root, place)).catch(() => null);
    if (!stat) continue; // gone since
    if (!entry.isDirectory()) seen.files += 1;
    if (KEPT.test(entry.name)) seen.kept.push(place);
    // Lease files have two names by design.
    if (stat.isSymbolicLink() || (stat.isFile() && stat.nlink > 1 && path.basename(below) !== 'lease'))
      seen.links.push(place);
    if (!stat.isSymbolicLink()) note(seen, place, stat);
    if (entry.isDirectory()) await scanBelow(root, place, seen);
  }
}

function note(seen: Seen, place: string, { uid, mode }: Stats): void {
  if (process.platform === 'win32') return; // no owners and modes of this kind
  if (process.getuid && uid !== process.getuid()) seen.foreign.push(place);
  if ((mode & OTHERS) !== 0) seen.loose.push(place);
}

function isInRepository(folder: string): boolean {
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, '.git'))) return true;
    if (path.dirname(at) === at) return false;
  }
}

function told(check: string, places: readonly string[], what: string, advice: string): Finding | null {
  if (places.length === 0) return null;
  const rest = places.length - SHOWN_MAX;
  const shown = places.slice(0, SHOWN_MAX).join(', ');
  return warning(check, `${places.length} ${what}: ${shown}${rest > 0 ? ` and ${rest} more` : ''}.`, advice);
}

function ok(check: string, message: string): Finding {
  return { level: 'ok', check, message, advice: null };
}

function warning(check: string, message: string, advice: string): Finding {
  return { level: 'warning', check, message, advice };
}

function problem(check: string, message: string, advice: string): Finding {
  return { level: 'problem', check, message, advice };
}
