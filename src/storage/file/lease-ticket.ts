/**
 * A process's place in the line: a file `waiting-<since>-<nonce>.json` in the folder of the lease.
 *
 * A waiting process takes a free lease only if no other waits for longer. A ticket counts while its owner lives: while
 * its process runs or, if that cannot be observed, while its file is touched. Tickets only order the waiting processes
 * and protect nothing, so they are not synced.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { type Clock, monotonicMs } from '../../core/clock.js';
import { errnoOf, type FileSystem } from '../file-system.js';
import { HeartbeatWatch } from '../heartbeat-watch.js';
import type { ProcessIdentity } from '../process-identity.js';
import { readWhole, withFile, writeFully } from './file-io.js';
import { encodeLease, parseLease } from './lease-files.js';

const BEAT_MS = 500;
/** Lifetime in milliseconds without a touch. */
const LIFE_MS = 3_000;
const NAME = /^waiting-(\d{15})-[0-9a-f]{16}\.json$/;

export interface LeaseTicketOptions {
  readonly clock: Clock;
  readonly identity: ProcessIdentity;
}

export class LeaseTicket {
  readonly #fs: FileSystem;
  readonly #folder: string;
  readonly #options: LeaseTicketOptions;
  #name: string | null = null;
  #beatMs = Number.NEGATIVE_INFINITY;

  constructor(fs: FileSystem, folder: string, options: LeaseTicketOptions) {
    this.#fs = fs;
    this.#folder = folder;
    this.#options = options;
  }

  /** Creates the ticket, or renews it. */
  async beat(): Promise<void> {
    const now = monotonicMs(this.#options.clock);
    if (now - this.#beatMs < BEAT_MS) return;
    this.#beatMs = now;
    this.#name ??= await this.#nextName();
    const file = path.join(this.#folder, this.#name);
    try {
      await this.#fs.touch(file, this.#options.clock.nowMs());
    } catch (thrown) {
      if (errnoOf(thrown) !== 'ENOENT') throw thrown;
      await this.#make(file);
    }
  }

  /** False while another process waits for longer; then this one has a ticket too. */
  async isFirst(): Promise<boolean> {
    for (const name of await this.#waiting()) {
      if (name === this.#name) break;
      if (!(await this.#isAlive(name))) continue;
      await this.beat();
      return false;
    }
    return true;
  }

  /** After all that wait now, whatever their clocks say. */
  async #nextName(): Promise<string> {
    const last = (await this.#waiting()).at(-1);
    const since = Math.max(
      Math.floor(this.#options.clock.nowMs()),
      Number(NAME.exec(last ?? '')?.[1] ?? 0) + 1,
    );
    return `waiting-${String(since).padStart(15, '0')}-${randomBytes(8).toString('hex')}.json`;
  }

  async #make(file: string): Promise<void> {
    const bytes = encodeLease({ owner: this.#options.identity.owner(), ttlMs: LIFE_MS, unsafeFence: 0 });
    try {
      await withFile(await this.#fs.open(file, 'create'), (made) => writeFully(made, bytes, 0));
    } catch (thrown) {
      await this.#fs.unlink(file).catch(() => {}); // if this fails too, the ticket expires
      throw thrown;
    }
  }

  async #waiting(): Promise<string[]> {
    return (await this.#fs.list(this.#folder)).filter((name) => NAME.test(name)).sort();
  }

  /** A ticket that a killed process left is removed. */
  async #isAlive(name: string): Promise<boolean> {
    const file = path.join(this.#folder, name);
    const stat = await this.#fs.stat(file);
    if (!stat) return false;
    const content = parseLease(await readWhole(this.#fs, file));
    const state = content ? this.#options.identity.state(content.owner) : 'unknown';
    const ended = state === 'gone' || state === 'rebooted';
    const unchangedMs = HeartbeatWatch.on(this.#options.clock).unchangedMs(file, String(stat.modifiedMs));
    if (!ended && unchangedMs < LIFE_MS) return true;
    await this.#fs.unlink(file).catch(() => {}); // a process that was only suspended creates it again, in its old place
    return false;
  }

  async drop(): Promise<void> {
    if (this.#name !== null) await this.#fs.unlink(path.join(this.#folder, this.#name)).catch(() => {});
  }
}
