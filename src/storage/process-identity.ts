/** Who this process is, and whether another one still runs. A pid alone is not enough: pids are used again. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import type { LeaseOwner } from './ports.js';

export interface ProcessIdentity {
  /** A new owner entry for this process. */
  owner(): LeaseOwner;
  /** `unknown` for another host, which only time can tell. */
  state(owner: LeaseOwner): 'running' | 'gone' | 'unknown';
}

export const systemIdentity: ProcessIdentity = {
  owner: () => ({
    pid: process.pid,
    processStart: processStart(process.pid),
    host: hostName(),
    nonce: randomBytes(8).toString('hex'),
  }),
  state(owner) {
    if (owner.host !== hostName()) return 'unknown';
    if (!isRunning(owner.pid)) return 'gone';
    const start = processStart(owner.pid);
    return start === null || owner.processStart === null || start === owner.processStart ? 'running' : 'gone';
  },
};

/** Host name and boot, so that two containers or two boots of one machine differ where the system tells. */
function hostName(): string {
  const boot = readText('/proc/sys/kernel/random/boot_id')?.trim().slice(0, 8);
  return boot ? `${os.hostname()}/${boot}` : os.hostname();
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Start time in clock ticks since boot, from field 22 of `/proc/<pid>/stat`; null elsewhere. A zombie counts as gone. */
function processStart(pid: number): string | null {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? 'zombie' : (fields[19] ?? null);
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
