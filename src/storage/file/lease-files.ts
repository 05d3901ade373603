/** The files in the folder of a lease: their names, and the content of each. See `file-leases.ts`. */
import { randomBytes } from 'node:crypto';
import { isJsonObject, type JsonValue, tryParseJson } from '../../core/json.js';
import type { LeaseOwner } from '../ports.js';

/** The name of one contender's private file. */
export function tokenName(fence: number): string {
  return `${String(fence).padStart(6, '0')}-${randomBytes(8).toString('hex')}.json`;
}

export function tokenFenceOf(name: string): number | null {
  const match = /^(\d{6,15})-[0-9a-f]{16}\.json$/.exec(name);
  return match ? Number(match[1]) : null;
}

export function leaseName(fence: number): string {
  return `${String(fence).padStart(6, '0')}.json`;
}

export function releasedName(fence: number): string {
  return `${String(fence).padStart(6, '0')}.released`;
}

export function fenceOf(name: string): number | null {
  const match = /^(\d{6,15})\.json$/.exec(name);
  return match ? Number(match[1]) : null;
}

export function releasedFenceOf(name: string): number | null {
  const match = /^(\d{6,15})\.released$/.exec(name);
  return match ? Number(match[1]) : null;
}

export interface LeaseContent {
  readonly owner: LeaseOwner;
  readonly ttlMs: number;
  /** See `Lease.unsafeFence`: passed on to the next owner. */
  readonly unsafeFence: number;
}

export function encodeLease({ owner, ttlMs, unsafeFence }: LeaseContent): Buffer {
  return Buffer.from(`${JSON.stringify({ owner, ttl_ms: ttlMs, unsafe_fence: unsafeFence })}\n`);
}

/** Null for an incomplete file: its owner died while creating it, or is just creating it. */
export function parseLease(bytes: Buffer | null): LeaseContent | null {
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
