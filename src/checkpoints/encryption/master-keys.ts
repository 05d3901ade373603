/** Master keys: they wrap the data keys of sessions, and nothing else. Where they are kept is a port. */
import { createHmac } from 'node:crypto';
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { KEY_BYTES } from './sealing.js';

export interface MasterKey {
  /** Tells keys apart and nothing about them. */
  readonly id: string;
  readonly bytes: Buffer;
}

export interface MasterKeys {
  /** Where they are, for messages. */
  readonly place: string;
  /** What new data keys are wrapped with; null when there is none yet. @throws KEY_UNAVAILABLE */
  current(): Promise<MasterKey | null>;
  /** Any key that is still known; null when it is not. @throws KEY_UNAVAILABLE */
  find(id: string): Promise<MasterKey | null>;
  /** Makes a new current key; older ones stay known. Null where keys are given from outside, and the current one is the new one. */
  renew(): Promise<MasterKey> | null;
  /** Forgets all but the current one, once nothing is wrapped with them. */
  forgetOld(): Promise<void>;
}

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

/** Never has a key in it. */
export function keyUnavailable(problem: string, details: JsonObject, cause?: unknown): RekindleError {
  return new RekindleError('KEY_UNAVAILABLE', problem, { details, cause });
}
