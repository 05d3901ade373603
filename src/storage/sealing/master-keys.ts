/** Master keys wrap data keys, nothing else. `MasterKeys` is the port to their storage. */
import { createHmac } from 'node:crypto';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { KEY_BYTES } from './aes-seal.js';

/** A 256-bit key that wraps data keys. Make it with `masterKeyOf`. */
export interface MasterKey {
  /** Identifies the key without revealing it. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** The port to the storage of master keys. Implement it for a key service of your own. */
export interface MasterKeys {
  /** Where they are stored, for messages. */
  readonly place: string;
  /** The key that wraps new data keys; null if there is none yet. @throws KEY_UNAVAILABLE */
  current(): Promise<MasterKey | null>;
  /** Any known key; null if unknown. @throws KEY_UNAVAILABLE */
  find(id: string): Promise<MasterKey | null>;
  /**
   * Makes a new current key; older ones stay known. Null if keys are set from outside: the current one then
   * counts as new.
   */
  renew(): Promise<MasterKey> | null;
  /** Forgets all but the current one. Call it only when no data key needs the others. */
  forgetOld(): Promise<void>;
}

/** A master key of 32 bytes, with an id derived from them. */
export function masterKeyOf(bytes: Buffer): MasterKey {
  const id = createHmac('sha256', bytes).update('rekindle master key').digest('hex').slice(0, 16);
  return { id, bytes };
}

/** 32 bytes as base64 or hex. Null for anything else. */
export function parseKey(text: string): Buffer | null {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex');
  const bytes = Buffer.from(trimmed, 'base64');
  return bytes.length === KEY_BYTES && /^[A-Za-z0-9+/_-]+=*$/.test(trimmed) ? bytes : null;
}

/** The error must never contain a key. */
export function keyUnavailable(problem: string, details: JsonObject, cause?: unknown): RekindleError {
  return new RekindleError('KEY_UNAVAILABLE', problem, { details, cause });
}

/**
 * The master key for a new data key. The first one is created here. If other sessions have keys, a missing
 * master key was lost and must not be replaced silently.
 * @throws KEY_UNAVAILABLE
 */
export async function masterForNew(masters: MasterKeys, hasKeys: () => Promise<boolean>): Promise<MasterKey> {
  const current = await masters.current();
  if (current) return current;
  if (await hasKeys())
    throw keyUnavailable(`${masters.place} has no master key, but data was encrypted with one.`, {
      place: masters.place,
      reason: 'missing',
    });
  const made = await Promise.resolve(masters.renew()).catch(async (thrown: unknown) => {
    const others = await masters.current(); // another process was first
    if (others) return others;
    throw thrown;
  });
  if (made) return made;
  throw keyUnavailable(`${masters.place} has no master key.`, { place: masters.place, reason: 'missing' });
}
