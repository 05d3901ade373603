/** The read-only checks of `rekindle doctor`: who can access a store, and what in it needs attention. */
import { spawnSync } from 'node:child_process';
import { type Dirent, existsSync, type Stats } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { isRekindleError } from '../core/errors.js';
import { TokenBook } from '../server/access/token-book.js';
import { unfinishedErasures } from '../storage/erasure/erasure-marker.js';
import type { StorageBackend } from '../storage/ports.js';
import { storeParts } from '../storage/tenants/store-parts.js';
import { oldestNode } from './package-version.js';
import { shellWord } from './shell-word.js';

export interface Finding {
  readonly level: 'ok' | 'warning' | 'problem';
  readonly check: string;
  readonly message: string;
  /** What to do; null if nothing. */
  readonly advice: string | null;
  /** The tenant that it is about; absent for the store itself. */
  readonly tenant?: string;
}

const SHOWN_MAX = 3;
/** Mode bits of group and others. */
const OTHERS = 0o077;
/** Files kept for a person to check; see `docs/formats/README.md`. */
const KEPT = /\.torn-\d+-|\.(?:damaged|clean)-[0-9a-f]{8}$|\.set-aside-[0-9a-f]+$|\.refused-[0-9a-f]+$/;

export function checkNode(version = process.versions.node): Finding {
  const oldest = oldestNode();
  const isOld = version.localeCompare(oldest, 'en', { numeric: true }) < 0;
  return isOld
    ? problem('node', `Node ${version} is too old.`, `Use Node ${oldest} or newer.`)
    : ok('node', `Node ${version}.`);
}

/** Checks owners, modes, links and kept files below a folder. */
export async function checkFolder(root: string): Promise<Finding[]> {
  const seen = await scan(root);
  if (!seen) return [ok('folder', `${root} does not exist yet. The first agent creates it.`)];
  const place = shellWord(root);
  return [
    ok('folder', `${root}, files: ${seen.files}.`),
    ...found('owner', 'Owned by another user', seen.foreign, `Take them over: chown -R "$(id -un)" ${place}`),
    ...found('modes', 'Open to other users', seen.loose, `Close them: chmod -R go-rwx ${place}`),
    ...found(
      'links',
      'Links, or files with a second name elsewhere. Rekindle does not write to them',
      seen.links,
      'Replace each by a copy of its content.',
    ),
    ...found(
      'kept',
      'Kept because something was damaged or refused',
      seen.kept,
      'Look at them, then delete them.',
    ),
  ];
}

/** Whether Git would commit the folder. Nothing outside of a repository, or without Git. */
export function checkGit(root: string): Finding[] {
  if (!existsSync(root) || !isInRepository(root)) return [];
  const { status, error } = spawnSync('git', ['check-ignore', '--quiet', root], { cwd: path.dirname(root) });
  if (error || (status !== 0 && status !== 1)) return [];
  if (status === 0) return [ok('git', 'Git ignores the folder.')];
  return [
    warning(
      'git',
      `Git does not ignore ${root}, so a commit can contain conversations.`,
      `Add a line to .gitignore: ${path.basename(root)}/`,
    ),
  ];
}

/** The tokens and erasures of every part of a store: of no tenant, and of each tenant. */
export async function checkParts(storage: StorageBackend): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { tenant, storage: part } of await storeParts(storage)) {
    const found = [...(await checkTokens(part)), ...(await checkErasures(part))];
    findings.push(...found.map((finding) => (tenant === null ? finding : ofTenant(tenant, finding))));
  }
  return findings;
}

function ofTenant(tenant: string, finding: Finding): Finding {
  return { ...finding, message: `Tenant ${tenant}: ${finding.message}`, tenant };
}

/** The server's own token, and the other tokens. */
async function checkTokens(storage: StorageBackend): Promise<Finding[]> {
  try {
    await storage.documents.assertPrivate?.(['server', 'token.json']);
    const tokens = await new TokenBook(storage).list();
    const expired = tokens.filter(({ hasExpired }) => hasExpired).map(({ id }) => id);
    const endless = tokens.filter(({ expiresAt }) => expiresAt === null).map(({ id }) => id);
    return [
      ok('tokens', `Tokens beside the server's own: ${tokens.length}.`),
      ...found('tokens', 'Expired tokens', expired, 'Remove them: rekindle token revoke ID'),
      ...found(
        'tokens',
        'Tokens that never expire',
        endless,
        'Replace them: rekindle token create --expires 90d, then rekindle token revoke ID',
      ),
    ];
  } catch (thrown) {
    if (!isRekindleError(thrown)) throw thrown;
    return [problem('tokens', thrown.message, thrown.advice)];
  }
}

async function checkErasures(storage: StorageBackend): Promise<Finding[]> {
  const unfinished = await unfinishedErasures(storage);
  if (unfinished.length === 0) return [];
  const targets = unfinished.map(({ target }) => Object.entries(target).flat().join(' '));
  return [
    problem(
      'erasures',
      `Unfinished erasures: ${targets.join(', ')}.`,
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

/** Null if the folder does not exist. */
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
    if (!stat) continue; // deleted meanwhile
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
  if (process.platform === 'win32') return; // Windows has no such owners and modes
  if (process.getuid && uid !== process.getuid()) seen.foreign.push(place);
  if ((mode & OTHERS) !== 0) seen.loose.push(place);
}

function isInRepository(folder: string): boolean {
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, '.git'))) return true;
    if (path.dirname(at) === at) return false;
  }
}

/** One warning for all places; none without places. */
function found(check: string, what: string, places: readonly string[], advice: string): Finding[] {
  if (places.length === 0) return [];
  const rest = places.length - SHOWN_MAX;
  const shown = places.slice(0, SHOWN_MAX).join(', ');
  return [warning(check, `${what}: ${shown}${rest > 0 ? ` and ${rest} more` : ''}.`, advice)];
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
