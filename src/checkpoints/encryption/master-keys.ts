/** Master keys wrap the data keys of sessions, nothing else. `MasterKeys` is the port to their storage. */
import { createHmac } from 'node:crypto';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { KEY_BYTES } from './sealing.js';

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
