/**
 * Leases without an OS lock: numbered files made with `link(2)`, so that one contender wins.
 *
 *     agents/<id>/lease/000007.json            who owns fence 7; its modification time is the heartbeat
 *     agents/<id>/lease/000007.released        the owner let go: no writer of fence 7 is left
 *
 * Holding fence 7 means that 000007.json is still there: one stat. A new owner makes 000008.json and then takes every lower
 * file away, before it looks at any journal. So what an old owner acknowledged after a check that still found its file was
 * synced before the new owner read where the journal ends.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Clock } from '../../core/clock.js';
import { isJsonObject, type JsonValue, tryParseJson } from '../../core/json.js';
import { LEASE_TTL_MS } from '../../core/limits.js';
import { errnoOf, type FileSystem } from '../file-system.js';
import { LeaseState, leaseHeld } from '../lease-state.js';
import type { Lease, LeaseOptions, LeaseOwner, Leases, Name } from '../ports.js';
import { ensureFolder, readWhole, withFile, writeFully } from './file-io.js';
import type { FilePaths } from './file-paths.js';
import type { ProcessIdentity } from './process-identity.js';
import { labelled } from './storage-errors.js';

interface Standing {
  readonly fence: number;
  readonly owner: LeaseOwner;
  readonly ttlMs: number;
  readonly released: boolean;
  readonly heartbeatMs: number;
}

const UNKNOWN_OWNER: LeaseOwner = { pid: 0, processStart: null, host: 'unknown', nonce: '' };

export class FileLeases implements Leases {
  readonly #fs: FileSystem;
  readonly #paths: FilePaths;
  readonly #clock: Clock;
  readonly #identity: ProcessIdentity;

  constructor(fs: FileSystem, paths: FilePaths, clock: Clock, identity: ProcessIdentity) {
    this.#fs = fs;
    this.#paths = paths;
    this.#clock = clock;
    this.#identity = identity;
  }

  acquire(name: Name, options: LeaseOptions = {}): Promise<Lease> {
    return labelled(`take the lease on ${name.join('/')}`, () =>
      this.#acquire(name, options.ttlMs ?? LEASE_TTL_MS),
    );
  }

  inspect(name: Name): ReturnType<Leases['inspect']> {
    return labelled(`look at the lease on ${name.join('/')}`, async () => {
      const folder = await this.#paths.folder([...name, 'lease'], { make: false });
      const standing = await this.#standing(folder);
      if (!standing || standing.released) return null;
      return { fence: standing.fence, owner: standing.owner, alive: this.#isAlive(standing) };
    });
  }

  async #acquire(name: Name, ttlMs: number): Promise<Lease> {
    const folder = await this.#paths.folder([...name, 'lease'], { make: true });
    await ensureFolder(this.#fs, folder);
    const label = name.join('/');
    for (;;) {
      const standing = await this.#standing(folder);
      if (standing && !standing.released && this.#isAlive(standing)) {
        throw leaseHeld(label, standing.fence, standing.owner, this.#clock.nowMs() - standing.heartbeatMs);
      }
      const fence = (standing?.fence ?? 0) + 1;
      if (!(await this.#claim(folder, fence, ttlMs))) continue; // another contender won this number
      await this.#fenceOff(folder, fence);
      const takenOver = standing !== null && !standing.released;
      return new FileLease(this.#fs, this.#clock, { folder, label, fence, takenOver, ttlMs });
    }
  }

  #isAlive(standing: Standing): boolean {
    const state = this.#identity.state(standing.owner);
    if (state === 'gone') return false;
    return this.#clock.nowMs() - standing.heartbeatMs <= standing.ttlMs;
  }

  /** The newest lease file. One that cannot be read (its owner died while making it) has an unknown owner. */
  async #standing(folder: string): Promise<Standing | null> {
    const names = await this.#list(folder);
    const fences = names.map(fenceOf).filter((fence) => fence !== null);
    if (fences.length === 0) return null;
    const fence = Math.max(...fences);
    const file = path.join(folder, leaseName(fence));
    const stat = await this.#fs.stat(file);
    const content = parseOwner(await readWhole(this.#fs, file));
    return {
      fence,
      owner: content?.owner ?? UNKNOWN_OWNER,
      ttlMs: content?.ttlMs ?? LEASE_TTL_MS,
      released: names.includes(releasedName(fence)),
      heartbeatMs: stat?.modifiedMs ?? 0,
    };
  }

  async #list(folder: string): Promise<string[]> {
    try {
      return await this.#fs.list(folder);
    } catch (thrown) {
      if (errnoOf(thrown) === 'ENOENT') return [];
      throw thrown;
    }
  }

  /** The content is whole before the name exists, and the name is durable before anyone relies on it. */
  async #claim(folder: string, fence: number, ttlMs: number): Promise<boolean> {
    const temporary = path.join(folder, `.tmp-${process.pid}-${randomBytes(6).toString('hex')}`);
    const content = JSON.stringify({ owner: this.#identity.owner(), ttl_ms: ttlMs });
    let made = false;
    try {
      await withFile(await this.#fs.open(temporary, 'create'), async (file) => {
        await writeFully(file, Buffer.from(`${content}\n`), 0);
        await file.datasync();
      });
      made = true;
      await this.#fs.touch(temporary, this.#clock.nowMs());
      await this.#fs.link(temporary, path.join(folder, leaseName(fence)));
    } catch (thrown) {
      // A winner has the number, or has swept our file away.
      if (errnoOf(thrown) === 'EEXIST' || (made && errnoOf(thrown) === 'ENOENT')) return false;
      throw thrown;
    } finally {
      await this.#fs.unlink(temporary).catch(() => {}); // swept by the next owner where this fails
    }
    try {
      await this.#fs.syncFolder(folder);
    } catch (thrown) {
      await markReleased(this.#fs, folder, fence).catch(() => {}); // nobody uses it, so nobody has to wait for it
      throw thrown;
    }
    return true;
  }

  /** Fences off every earlier owner. A lease file that stays would leave its owner in power: then the claim is given up. */
  async #fenceOff(folder: string, fence: number): Promise<void> {
    try {
      await this.#removeOlder(folder, fence);
    } catch (thrown) {
      await this.#fs.unlink(path.join(folder, leaseName(fence))).catch(() => {}); // else it ends with this process
      throw thrown;
    }
  }

  async #removeOlder(folder: string, fence: number): Promise<void> {
    // Lowest first: when one stays, the newest before ours must stay too, or its number would be given twice.
    const names = (await this.#list(folder)).sort((a, b) => (fenceOf(a) ?? 0) - (fenceOf(b) ?? 0));
    for (const name of names) {
      const older = (fenceOf(name) ?? fence) < fence;
      const leftover = (releasedFenceOf(name) ?? fence) < fence || name.startsWith('.tmp-');
      if (!older && !leftover) continue;
      try {
        await this.#fs.unlink(path.join(folder, name));
      } catch (thrown) {
        if (older && errnoOf(thrown) !== 'ENOENT') throw thrown;
      }
    }
  }
}

interface HeldLease {
  readonly folder: string;
  readonly label: string;
  readonly fence: number;
  readonly takenOver: boolean;
  readonly ttlMs: number;
}

class FileLease implements Lease {
  readonly fence: number;
  readonly takenOver: boolean;
  readonly #fs: FileSystem;
  readonly #clock: Clock;
  readonly #held: HeldLease;
  readonly #state = new LeaseState();
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(fs: FileSystem, clock: Clock, held: HeldLease) {
    this.#fs = fs;
    this.#clock = clock;
    this.#held = held;
    this.fence = held.fence;
    this.takenOver = held.takenOver;
    this.#state.startHeartbeat(Math.max(50, held.ttlMs / 3), () => this.renew());
  }

  get held(): boolean {
    return this.#state.held;
  }

  get lost(): AbortSignal {
    return this.#state.lost;
  }

  async check(options: { readonly maxAgeMs?: number } = {}): Promise<void> {
    const fresh = options.maxAgeMs !== undefined && performance.now() - this.#checkedAt <= options.maxAgeMs;
    if (fresh) this.#state.throwUnlessHeld(this.#held.label, this.fence);
    else await labelled(`check the lease on ${this.#held.label}`, () => this.#check());
  }

  async #check(): Promise<void> {
    const started = performance.now();
    this.#state.throwUnlessHeld(this.#held.label, this.fence);
    const own = await this.#fs.stat(path.join(this.#held.folder, leaseName(this.fence)));
    if (!own) throw this.#state.markLost(this.#held.label, this.fence);
    this.#checkedAt = started;
  }

  renew(): Promise<void> {
    return labelled(`renew the lease on ${this.#held.label}`, async () => {
      await this.#check();
      await this.#fs.touch(path.join(this.#held.folder, leaseName(this.fence)), this.#clock.nowMs());
    });
  }

  release(): Promise<void> {
    this.#state.release();
    if (this.lost.aborted) return Promise.resolve();
    return labelled(`release the lease on ${this.#held.label}`, () =>
      markReleased(this.#fs, this.#held.folder, this.fence),
    );
  }
}

async function markReleased(fs: FileSystem, folder: string, fence: number): Promise<void> {
  try {
    await (await fs.open(path.join(folder, releasedName(fence)), 'create')).close();
  } catch (thrown) {
    if (errnoOf(thrown) !== 'EEXIST' && errnoOf(thrown) !== 'ENOENT') throw thrown;
  }
}

function leaseName(fence: number): string {
  return `${String(fence).padStart(6, '0')}.json`;
}

function releasedName(fence: number): string {
  return `${String(fence).padStart(6, '0')}.released`;
}

function fenceOf(name: string): number | null {
  const match = /^(\d{6,15})\.json$/.exec(name);
  return match ? Number(match[1]) : null;
}

function releasedFenceOf(name: string): number | null {
  const match = /^(\d{6,15})\.released$/.exec(name);
  return match ? Number(match[1]) : null;
}

function parseOwner(bytes: Buffer | null): { owner: LeaseOwner; ttlMs: number } | null {
  const value: JsonValue | undefined = bytes === null ? undefined : tryParseJson(bytes.toString('utf8'));
  if (!isJsonObject(value) || !isJsonObject(value['owner'])) return null;
  const { pid, processStart, host, nonce } = value['owner'];
  const ttlMs = value['ttl_ms'];
  if (typeof pid !== 'number' || typeof host !== 'string' || typeof nonce !== 'string') return null;
  if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return null;
  return {
    owner: { pid, processStart: typeof processStart === 'string' ? processStart : null, host, nonce },
    ttlMs,
  };
}
