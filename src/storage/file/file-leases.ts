/**
 * Leases without an OS lock: numbered files created with `link(2)`, so that one contender wins.
 *
 * agents/<id>/lease/000007-1f0c9b2d.json   written by one contender for fence 7; only that contender uses the name
 * agents/<id>/lease/000007.json            a hard link to it: its owner has fence 7. The modification time is the
 * heartbeat agents/<id>/lease/000007.released        the owner released it: no writer of fence 7 is left
 *
 * The owner of fence 7 holds it as long as its own file still exists under its private name: one `stat`. A new owner
 * creates 000008.json, then removes every file with a lower number, and only then reads any journal. So everything that
 * an old owner acknowledged after a check that still found its file was synced before the new owner read the end of the
 * journal. A contender that was suspended before its link may recreate 000007.json; it then sees 000008.json and gives
 * up.
 */
import path from 'node:path';
import { type Clock, sleepOn } from '../../core/clock.js';
import type { RekindleError } from '../../core/errors.js';
import { LEASE_TTL_MS } from '../../core/limits.js';
import { errnoOf, type FileSystem } from '../file-system.js';
import { HeartbeatWatch } from '../heartbeat-watch.js';
import { acquireInLine, waitMsOf, wakeLine } from '../lease-line.js';
import { leaseHeld } from '../lease-state.js';
import type { Lease, LeaseOptions, LeaseOwner, Leases, Name } from '../ports.js';
import { isSelf, type ProcessIdentity } from '../process-identity.js';
import { ensureFolder, readWhole, withFile, writeFully } from './file-io.js';
import { FileLease } from './file-lease.js';
import type { FilePaths } from './file-paths.js';
import { leasesBelow } from './file-tree.js';
import {
  encodeLease,
  fenceOf,
  type LeaseContent,
  leaseName,
  parseLease,
  releasedFenceOf,
  releasedName,
  tokenFenceOf,
  tokenName,
} from './lease-files.js';
import { LeaseTicket } from './lease-ticket.js';
import { labelled } from './storage-errors.js';
import { sweepTemporary } from './temporary-file.js';

interface Standing extends LeaseContent {
  readonly fence: number;
  readonly released: boolean;
  /** By its owner's clock: shows whether it changed, not when. */
  readonly heartbeatMs: number;
}

const UNKNOWN_OWNER: LeaseOwner = { pid: 0, processStart: null, host: 'unknown', nonce: '' };

export interface FileLeasesOptions {
  readonly clock: Clock;
  readonly identity: ProcessIdentity;
  /** Makes the folder's own name durable. If it were lost, fences would restart below those in the journals. */
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
    return labelled(`take the lease on ${name.join('/')}`, async () => {
      if (waitMsOf(options) === 0) return this.#acquire(name, await this.#madeFolder(name), options, null);
      let ticket: LeaseTicket | null = null;
      try {
        // Queued before the folder is resolved: lookups may finish in another order than they started.
        return await acquireInLine(this.#paths.keyOf(name), name, options, async () => {
          const folder = await this.#madeFolder(name);
          ticket ??= new LeaseTicket(this.#fs, folder, { clock: this.#clock, identity: this.#identity });
          return this.#acquire(name, folder, options, ticket);
        });
      } finally {
        await (ticket as LeaseTicket | null)?.drop();
      }
    });
  }

  async #madeFolder(name: Name): Promise<string> {
    const folder = await this.#paths.folder([...name, 'lease'], { make: true });
    await ensureFolder(this.#fs, folder);
    return folder;
  }

  inspect(name: Name): ReturnType<Leases['inspect']> {
    return labelled(`look at the lease on ${name.join('/')}`, async () => {
      const folder = await this.#paths.folder([...name, 'lease'], { make: false });
      const standing = await this.#standing(folder);
      if (!standing || standing.released) return null;
      const { fence, owner, ttlMs, heartbeatMs } = standing;
      const looksAlive = Math.abs(this.#clock.nowMs() - heartbeatMs) <= ttlMs;
      return { fence, owner, alive: this.#isAlive(folder, standing) && looksAlive };
    });
  }

  list(prefix: Name): Promise<Name[]> {
    return labelled(`list the leases of ${prefix.join('/')}`, async () =>
      leasesBelow(this.#fs, await this.#paths.folder(prefix, { make: false }), prefix),
    );
  }

  /** @param ticket of a caller that waits in line; other callers wait only while it is unclear whether the owner is alive */
  async #acquire(
    name: Name,
    folder: string,
    { ttlMs = LEASE_TTL_MS, force = false }: LeaseOptions,
    ticket: LeaseTicket | null,
  ): Promise<Lease> {
    for (;;) {
      const standing = await this.#standing(folder);
      if (!force && (await this.#mayNot(folder, standing, ticket))) throw this.#held(name, standing!);
      const fence = (standing?.fence ?? 0) + 1;
      const unsafeFence = standing?.unsafeFence ?? 0;
      const own = tokenName(fence);
      const content = { owner: this.#identity.owner(), ttlMs, unsafeFence };
      if (!(await this.#claim(folder, fence, own, content))) continue; // another contender won
      await this.#fenceOff(folder, fence, own);
      const takenOver = standing !== null && !standing.released;
      const onRelease = () => wakeLine(this.#paths.keyOf(name));
      const held = { folder, label: name.join('/'), own, fence, takenOver, unsafeFence, ttlMs, onRelease };
      return new FileLease(this.#fs, this.#clock, held);
    }
  }

  /** True while the lease belongs to another owner, or it is another's turn. */
  async #mayNot(folder: string, standing: Standing | null, ticket: LeaseTicket | null): Promise<boolean> {
    const held = standing !== null && !standing.released;
    if (held && (ticket ? this.#isAlive(folder, standing) : await this.#outlives(folder, standing))) {
      await ticket?.beat();
      return true;
    }
    return standing !== null && ticket !== null && !(await ticket.isFirst());
  }

  #held(name: Name, { fence, owner, heartbeatMs }: Standing): RekindleError {
    const ageMs = this.#clock.nowMs() - heartbeatMs;
    return leaseHeld(name, { fence, owner, ageMs, isSelf: isSelf(this.#identity, owner) });
  }

  /**
   * An owner that cannot be observed is judged by its heartbeat, and only by whether it changes: its clock may differ.
   * If it does not change for a whole lease time while this process watches, the lease has expired.
   */
  #isAlive(folder: string, standing: Standing): boolean {
    if (this.#hasEnded(standing.owner)) return false;
    const { fence, owner, heartbeatMs, ttlMs } = standing;
    const mark = `${fence}/${owner.nonce}/${heartbeatMs}`;
    return HeartbeatWatch.on(this.#clock).unchangedMs(folder, mark) < ttlMs;
  }

  /** True if no thread of the owner is left that could write again. */
  #hasEnded(owner: LeaseOwner): boolean {
    const state = this.#identity.state(owner);
    return state === 'gone' || state === 'rebooted';
  }

  /** Like `#isAlive`. A heartbeat that looks old, or comes from the future, is watched until it is clear. */
  async #outlives(folder: string, seen: Standing): Promise<boolean> {
    for (let standing: Standing | null = seen; ; ) {
      if (!standing || standing.released || !this.#isAlive(folder, standing)) return false;
      const ageMs = this.#clock.nowMs() - standing.heartbeatMs;
      const changed = standing.heartbeatMs !== seen.heartbeatMs || standing.fence !== seen.fence;
      if (changed || Math.abs(ageMs) <= standing.ttlMs) return true;
      await sleepOn(this.#clock, Math.min(1_000, standing.ttlMs / 10));
      standing = await this.#standing(folder);
    }
  }

  /** The newest lease file. An unreadable file (its owner died while creating it) has an unknown owner. */
  async #standing(folder: string): Promise<Standing | null> {
    const names = await this.#list(folder);
    const fences = names.map(fenceOf).filter((fence) => fence !== null);
    if (fences.length === 0) return null;
    const fence = Math.max(...fences);
    const file = path.join(folder, leaseName(fence));
    const stat = await this.#fs.stat(file);
    const content = parseLease(await readWhole(this.#fs, file));
    const released = names.includes(releasedName(fence));
    const owner = content?.owner ?? UNKNOWN_OWNER;
    return {
      fence,
      owner,
      ttlMs: content?.ttlMs ?? LEASE_TTL_MS,
      released,
      unsafeFence: content && (released || this.#hasEnded(owner)) ? content.unsafeFence : fence,
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

  /** The content is complete before the name exists, and the name is durable before it is relied on. */
  async #claim(folder: string, fence: number, own: string, content: LeaseContent): Promise<boolean> {
    const bytes = encodeLease(content);
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
      if (!won) await this.#fs.unlink(path.join(folder, own)).catch(() => {}); // if this fails, the next owner removes it
    }
  }

  /** False if another contender has this number or a higher one, or has removed our file. */
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

  /** If this fails too, the claim ends with this process. */
  async #giveUp(folder: string, fence: number, own: string): Promise<void> {
    await this.#fs.unlink(path.join(folder, own)).catch(() => {});
    await this.#fs.unlink(path.join(folder, leaseName(fence))).catch(() => {});
  }

  /** Fences off every earlier owner. If a file cannot be removed, its owner could still write, so the claim is given up. */
  async #fenceOff(folder: string, fence: number, own: string): Promise<void> {
    try {
      await this.#removeOlder(folder, fence);
    } catch (thrown) {
      await this.#giveUp(folder, fence, own);
      throw thrown;
    }
  }

  /**
   * Removes the private files first, because they give the right to write, then the numbered ones. Starts at the lowest
   * fence and stops at the first failure, so that the newest earlier owner stays on record until all are fenced off.
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
