/**
 * Leases as objects: one object a lease, changed by compare-and-set. It holds the fence, the owner, the heartbeat and whether it
 * was released. Its fence never decreases, because the object is never deleted.
 */
import { randomBytes } from 'node:crypto';
import { isRekindleError } from '../../../core/errors.js';
import type { JsonObject } from '../../../core/json.js';
import { keyOf } from '../../name-key.js';
import { SerialCalls } from '../../serial-calls.js';
import type { LeaseRef, LeaseRow, SqlOperations } from '../../sql/sql-engine.js';
import type { ConditionalObjects, ObjectStorage } from '../object-storage.js';
import { LEASE, LEASES, leaseAt, prefixOf } from './object-places.js';
import { decodeJson, encodeJson, numberIn } from './stored-json.js';

interface LeaseContent {
  readonly fence: number;
  /** `LeaseOwner` as JSON text. */
  readonly owner: string;
  readonly released: boolean;
  readonly beatMs: number;
  readonly ttlMs: number;
  /** See `Lease.unsafeFence`. */
  readonly unsafeFence: number;
}

interface Known {
  readonly content: LeaseContent;
  readonly version: string;
}

export class LeaseObjects {
  readonly #objects: ObjectStorage;
  readonly #cas: ConditionalObjects;
  /** As this process last read or wrote them. */
  readonly #known = new Map<string, Known>();
  /** Leases under which an append may still arrive. */
  readonly #uncertain = new Set<string>();
  readonly #calls = new SerialCalls();

  constructor(objects: ObjectStorage, cas: ConditionalObjects) {
    this.#objects = objects;
    this.#cas = cas;
  }

  async read({ key, nowMs }: Parameters<SqlOperations['readLease']>[0]): Promise<LeaseRow | null> {
    const found = await this.#read(key);
    if (!found) return null;
    const { fence, owner, released, beatMs, ttlMs } = found.content;
    const ageMs = nowMs === null ? (found.ageMs ?? 0) : nowMs - beatMs;
    return { fence, owner, released, beatMs, ttlMs, ageMs };
  }

  async #read(key: string): Promise<(Known & { readonly ageMs: number | null }) | null> {
    const name = leaseAt(key);
    const object = await this.#cas.read(name);
    if (!object) return null;
    const known = { content: decodeLease(decodeJson(name, object.bytes)), version: object.version };
    this.#known.set(key, known);
    return { ...known, ageMs: object.ageMs };
  }

  take(request: Parameters<SqlOperations['takeLease']>[0]): Promise<boolean> {
    const { key, seen, owner, ttlMs, nowMs } = request;
    return this.#calls.run(key, async () => {
      const before = this.#known.get(key)?.content;
      const isSeen = before?.fence === seen?.fence && before?.beatMs === seen?.beatMs;
      if (seen && !isSeen) return false;
      this.#uncertain.delete(refText({ key, fence: (seen?.fence ?? 0) + 1 }));
      return this.#write(key, seen ? this.#known.get(key)!.version : null, {
        fence: (seen?.fence ?? 0) + 1,
        owner,
        released: false,
        beatMs: Math.max(nowMs ?? Date.now(), (before?.beatMs ?? 0) + 1),
        ttlMs,
        unsafeFence: !seen || !before ? 0 : before.released ? before.unsafeFence : before.fence,
      });
    });
  }

  async #write(key: string, ifMatch: string | null, content: LeaseContent): Promise<boolean> {
    const condition = ifMatch === null ? ({ ifAbsent: true } as const) : { ifMatch };
    const version = await this.#cas.writeIf(leaseAt(key), encodeLease(content), condition);
    if (version === null) this.#known.delete(key);
    else this.#known.set(key, { content, version });
    return version !== null;
  }

  async holds({ key, fence }: LeaseRef): Promise<boolean> {
    const found = await this.#read(key);
    return found?.content.fence === fence && !found.content.released;
  }

  beat({ key, fence, nowMs }: Parameters<SqlOperations['beatLease']>[0]): Promise<boolean> {
    return this.#change(key, fence, (content) => {
      return { ...content, beatMs: Math.max(nowMs ?? Date.now(), content.beatMs + 1) };
    });
  }

  /** An append that may still arrive makes the next owner seal the journals. */
  async release(ref: LeaseRef): Promise<void> {
    const unsafe = this.#uncertain.has(refText(ref)) ? ref.fence : 0;
    await this.#change(ref.key, ref.fence, (content) => ({
      ...content,
      released: true,
      unsafeFence: Math.max(content.unsafeFence, unsafe),
    }));
    this.#uncertain.delete(refText(ref));
  }

  /** False if another owner has it, or it was released. A change whose outcome is unknown is looked up and tried again. */
  #change(key: string, fence: number, change: (before: LeaseContent) => LeaseContent): Promise<boolean> {
    return this.#calls.run(key, async () => {
      for (;;) {
        const isHeld = (known: Known | null | undefined): known is Known =>
          known?.content.fence === fence && !known.content.released;
        const cached = this.#known.get(key); // an answer that came late may have put an older one there
        const known = isHeld(cached) ? cached : await this.#read(key);
        if (!isHeld(known)) return false;
        try {
          if (await this.#write(key, known.version, change(known.content))) return true;
        } catch (thrown) {
          if (isRekindleError(thrown, 'STORAGE_UNAVAILABLE')) this.#known.delete(key);
          throw thrown;
        }
      }
    });
  }

  /** An append under this lease has an unknown outcome. */
  markUncertain(ref: LeaseRef): void {
    this.#uncertain.add(refText(ref));
  }

  /** Owners up to this fence may have an append under way. */
  unsafeFence({ key, fence }: LeaseRef): number {
    const content = this.#known.get(key)?.content;
    return content?.fence === fence ? content.unsafeFence : fence - 1;
  }

  /** Milliseconds without a heartbeat after which another may take it. */
  ttlMs({ key }: LeaseRef): number {
    return this.#known.get(key)?.content.ttlMs ?? 0;
  }

  async list(range: Parameters<SqlOperations['listLeases']>[0]): Promise<string[]> {
    const prefix = prefixOf(range);
    const keys: string[] = [];
    for await (const { name } of this.#objects.list([LEASES, ...prefix])) {
      if (name.at(-1) === LEASE && prefix.length + name.length > 1)
        keys.push(keyOf([...prefix, ...name.slice(0, -1)]));
    }
    return keys.sort();
  }
}

function refText({ key, fence }: LeaseRef): string {
  return `${fence} ${key}`;
}

/** The nonce makes every version of the object different. */
function encodeLease(content: LeaseContent): Buffer {
  return encodeJson({
    fence: content.fence,
    owner: JSON.parse(content.owner) as JsonObject,
    released: content.released,
    beat_ms: content.beatMs,
    ttl_ms: content.ttlMs,
    unsafe_fence: content.unsafeFence,
    nonce: randomBytes(6).toString('hex'),
  });
}

function decodeLease(value: JsonObject): LeaseContent {
  return {
    fence: numberIn(value, 'fence'),
    owner: JSON.stringify(value['owner'] ?? {}),
    released: value['released'] === true,
    beatMs: numberIn(value, 'beat_ms'),
    ttlMs: numberIn(value, 'ttl_ms'),
    unsafeFence: numberIn(value, 'unsafe_fence'),
  };
}
