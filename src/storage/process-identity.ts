/** Identifies this process, and checks whether another one still runs. A pid alone is not enough, because pids are reused. */
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import os from 'node:os';
import type { LeaseOwner } from './ports.js';

export interface ProcessIdentity {
  /** A new owner record for this process. */
  owner(): LeaseOwner;
  /**
   * `gone`: none of its threads is left on this kernel. `rebooted`: it ran before this machine was restarted.
   * `unknown`: this process cannot observe it (another machine or PID namespace), so only its heartbeat can show
   * whether it runs.
   */
  state(owner: LeaseOwner): 'running' | 'gone' | 'rebooted' | 'unknown';
  /** True if the owner is this process. Default: the same pid, start and host as `owner()`. */
  isSelf?(owner: LeaseOwner): boolean;
}

export const systemIdentity: ProcessIdentity = {
  owner: () => ({
    pid: process.pid,
    processStart: processStart(process.pid),
    host: hostName(),
    nonce: randomBytes(8).toString('hex'),
  }),
  state(owner) {
    if (owner.host !== hostName()) return isRebooted(owner.host) ? 'rebooted' : 'unknown';
    if (!isRunning(owner.pid)) return 'gone';
    const start = processStart(owner.pid);
    return start === null || owner.processStart === null || start === owner.processStart ? 'running' : 'gone';
  },
};

/** True if the owner of a lease is the asking process. */
export function isSelf(identity: ProcessIdentity, owner: LeaseOwner): boolean {
  if (identity.isSelf) return identity.isSelf(owner);
  const own = identity.owner();
  return own.pid === owner.pid && own.host === owner.host && own.processStart === owner.processStart;
}

const BOOT = '/proc/sys/kernel/random/boot_id';
const PID_NAMESPACE = '/proc/self/ns/pid';
const MACHINE = '/etc/machine-id';

let known: string | null = null;

/**
 * Host name, boot, PID namespace and machine: `web-1/1c0e3f52/4026531836/9a3b77d1`. A pid is comparable only if all are
 * equal: two containers with one host name number their processes separately. If Linux hides the namespace, no other
 * process can be observed; then the entry has a random part and equals no other.
 */
function hostName(): string {
  known ??= readHost();
  return known;
}

function readHost(): string {
  const boot = readText(BOOT)?.trim().slice(0, 8);
  if (process.platform !== 'linux') return boot ? `${os.hostname()}/${boot}` : os.hostname();
  const namespace = /\d+/.exec(readLink(PID_NAMESPACE) ?? '')?.[0];
  const own = boot && namespace ? `${boot}/${namespace}` : `-/${randomBytes(8).toString('hex')}`;
  const machine = readText(MACHINE)?.trim() ?? '';
  // The machine id itself must not be shown to others.
  const shown =
    machine === '' ? '' : createHash('sha256').update(`rekindle ${machine}`).digest('hex').slice(0, 8);
  return `${os.hostname()}/${own}/${shown}`;
}

/** The same machine, by name and machine id, in an earlier boot. */
function isRebooted(host: string): boolean {
  const [name, boot, , machine] = host.split('/');
  const [ownName, ownBoot, , ownMachine] = hostName().split('/');
  if (!machine || boot === '-' || ownBoot === '-') return false;
  return name === ownName && machine === ownMachine && boot !== ownBoot;
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Start time in clock ticks since boot, from field 22 of `/proc/<pid>/stat`; null elsewhere. A zombie counts as gone
 * once none of its threads is left: until then one may be in the middle of a write.
 */
function processStart(pid: number): string | null {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' && threadCount(pid) <= 1 ? 'zombie' : (fields[19] ?? null);
}

function threadCount(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
}

function readLink(link: string): string | null {
  try {
    return readlinkSync(link);
  } catch {
    return null;
  }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
