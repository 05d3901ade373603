/**
 * Leases without an OS lock: numbered files made with `link(2)`, so that one contender wins.
 *
 *     agents/<id>/lease/000007-1f0c9b2d.json   what one contender for fence 7 wrote; the name is its alone
 *     agents/<id>/lease/000007.json            a second name for it: its owner has fence 7. The modification time is the heartbeat
 *     agents/<id>/lease/000007.released        the owner let go: no writer of fence 7 is left
 *
 * Holding fence 7 means that the owner's own file is still there under the name that nobody else can make: one stat. A new
 * owner makes 000008.json and then takes every lower file away, before it looks at any journal. So what an old owner
 * acknowledged after a check that still found its file was synced before the new owner read where the journal ends.
 * A contender that was stopped before its link may give 000007.json a second life: it then sees 000008.json, and gives up.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Clock } from '../../core/clock.js';
import { isJsonObject, type JsonValue, tryParseJson } from '../../core/json.js';
import { LEASE_TTL_MS } from '../../core/limits.js';
import { errnoOf, type FileSystem } from '../file-system.js';
import { LeaseState, leaseHeld } from '../lease-state.js';
import type { Lease, LeaseOptions, LeaseOwner, Leases, Name } from '../ports.js';
import type { ProcessIdentity } from '../process-identity.js';
import { ensureFolder, readWhole, withFile, writeFully } from './file-io.js';
import type { FilePaths } from './file-paths.js';
import { labelled } from './storage-errors.js';
import { sweepTemporary } from './temporary-file.js';

interface Standing {
  readonly fence: number;
  readonly owner: LeaseOwner;
  readonly ttlMs: number;
  readonly released: boolean;
  /** See `Lease.unsafeFence`: what the next owner has to reckon with. */
  readonly unsafeFence: number;
  readonly heartbeatMs: number;
}

const UNKNOWN_OWNER: LeaseOwner = { pid: 0, processStart: null, host: 'unknown', nonce: '' };

export interface FileLeasesOptions {
  readonly clock: Clock;
  readonly identity: ProcessIdentity;
  /** Makes the folder's own name durable: were it lost, fences would start again below those in the journals. */
  readonly syncAncestors: (folder: string) => Promise<void>;
}

export class FileLeases implements Leases {
  readonly #fs: FileSystem;
  readonly #paths: FilePaths;
  readonly #clock: Clock;
  readonly #identity: ProcessIdentity;
  readonly #syncAncestors: (folder: string) => Promise<void>;

  constructor(fs: FileSystem, paths: FilePaths, options: FileLeasesOptions) {
    this.#fs = fs;
    this.#paths = paths;
    this.#clock = options.clock;
    this.#identity = options.identity;
    this.#syncAncestors = options.syncAncestors;
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
      const unsafeFence = standing?.unsafeFence ?? 0;
      const own = tokenName(fence);
      if (!(await this.#claim(folder, fence, own, { ttlMs, unsafeFence }))) continue; // another contender won
      await this.#fenceOff(folder, fence, own);
      const takenOver = standing !== null && !standing.released;
      return new FileLease(this.#fs, this.#clock, {
        folder,
        label,
        own,
        fence,
        takenOver,
        unsafeFence,
        ttlMs,
      });
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
    const released = names.includes(releasedName(fence));
    return {
      fence,
      owner: content?.owner ?? UNKNOWN_OWNER,
      ttlMs: content?.ttlMs ?? LEASE_TTL_MS,
      released,
      unsafeFence: released ? (content?.unsafeFence ?? fence) : fence,
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
  async #claim(
    folder: string,
    fence: number,
    own: string,
    terms: { readonly ttlMs: number; readonly unsafeFence: number },
  ): Promise<boolean> {
    const content = { owner: this.#identity.owner(), ttl_ms: terms.ttlMs, unsafe_fence: terms.unsafeFence };
    const bytes = Buffer.from(`${JSON.stringify(content)}\n`);
    let won = false;
    try {
      await withFile(await this.#fs.open(path.join(folder, own), 'create'), async (file) => {
        await writeFully(file, bytes, 0);
        await file.datasync();
      });
      won = await this.#link(folder, own, fence);
      if (won) await this.#fs.syncFolder(folder);
      if (won) await this.#syncAncestors(folder);
      return won;
    } catch (thrown) {
      if (won) await this.#giveUp(folder, fence, own);
      won = true;
      throw thrown;
    } finally {
      if (!won) await this.#fs.unlink(path.join(folder, own)).catch(() => {}); // taken away by the next owner where this fails
    }
  }

  /** False when another contender has the number or a higher one, or has taken our file away. */
  async #link(folder: string, own: string, fence: number): Promise<boolean> {
    try {
      await this.#fs.touch(path.join(folder, own), this.#clock.nowMs());
      await this.#fs.link(path.join(folder, own), path.join(folder, leaseName(fence)));
    } catch (thrown) {
      if (errnoOf(thrown) === 'EEXIST' || errnoOf(thrown) === 'ENOENT') return false;
      throw thrown;
    }
    const overtaken = (await this.#list(folder)).some((name) => (fenceOf(name) ?? 0) > fence);
    if (overtaken) await this.#giveUp(folder, fence, own);
    return !overtaken;
  }

  /** Where this fails too, the claim ends with this process. */
  async #giveUp(folder: string, fence: number, own: string): Promise<void> {
    await this.#fs.unlink(path.join(folder, own)).catch(() => {});
    await this.#fs.unlink(path.join(folder, leaseName(fence))).catch(() => {});
  }

  /** Fences off every earlier owner. A file that stays would leave its owner in power: then the claim is given up. */
  async #fenceOff(folder: string, fence: number, own: string): Promise<void> {
    try {
      await this.#removeOlder(folder, fence);
    } catch (thrown) {
      await this.#giveUp(folder, fence, own);
      throw thrown;
    }
  }

  /**
   * First what gives owners their power, then the numbers; lowest fence first, stopping at the first that stays: so the newest
   * earlier owner is on record until all are fenced off.
   */
  async #removeOlder(folder: string, fence: number): Promise<void> {
    const names = await this.#list(folder);
    for (const numberOf of [tokenFenceOf, fenceOf]) {
      const older = names.filter((name) => (numberOf(name) ?? fence) < fence);
      for (const name of older.sort((a, b) => numberOf(a)! - numberOf(b)!)) {
        await this.#fs.unlink(path.join(folder, name)).catch((thrown: unknown) => {
          if (errnoOf(thrown) !== 'ENOENT') throw thrown;
        });
      }
    }
    const leftover = names.filter((name) => (releasedFenceOf(name) ?? fence) < fence);
    for (const name of leftover) await this.#fs.unlink(path.join(folder, name)).catch(() => {});
    await sweepTemporary(this.#fs, folder);
  }
}

interface HeldLease {
  readonly folder: string;
  readonly label: string;
  /** The name of the file that nobody else can make. */
  readonly own: string;
  readonly fence: number;
  readonly takenOver: boolean;
  readonly unsafeFence: number;
  readonly ttlMs: number;
}

class FileLease implements Lease {
  readonly fence: number;
  readonly takenOver: boolean;
  readonly unsafeFence: number;
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
    this.unsafeFence = held.unsafeFence;
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
    const own = await this.#fs.stat(path.join(this.#held.folder, this.#held.own));
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

/** The name of one contender's file. */
function tokenName(fence: number): string {
  return `${String(fence).padStart(6, '0')}-${randomBytes(8).toString('hex')}.json`;
}

function tokenFenceOf(name: string): number | null {
  const match = /^(\d{6,15})-[0-9a-f]{16}\.json$/.exec(name);
  return match ? Number(match[1]) : null;
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

function parseOwner(bytes: Buffer | null): { owner: LeaseOwner; ttlMs: number; unsafeFence: number } | null {
  const value: JsonValue | undefined = bytes === null ? undefined : tryParseJson(bytes.toString('utf8'));
  if (!isJsonObject(value) || !isJsonObject(value['owner'])) return null;
  const { pid, processStart, host, nonce } = value['owner'];
  const { ttl_ms: ttlMs, unsafe_fence: unsafeFence } = value;
  if (typeof pid !== 'number' || typeof host !== 'string' || typeof nonce !== 'string') return null;
  if (typeof ttlMs !== 'number' || !(ttlMs > 0) || typeof unsafeFence !== 'number') return null;
  return {
    owner: { pid, processStart: typeof processStart === 'string' ? processStart : null, host, nonce },
    ttlMs,
    unsafeFence,
  };
}
