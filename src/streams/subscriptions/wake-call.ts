/** What workers get and answer: wakes, claims, and the tokens that prove them. */
import { createHash, randomBytes } from 'node:crypto';
import type { Subscription, Tails, Wake } from './subscription.js';

/** A wake as its worker gets it. `token` proves the worker; only its digest is stored. */
export interface WakeCall {
  readonly subscription: Subscription;
  readonly wake: Wake;
  readonly token: string;
  readonly tails: Tails;
}

/** Calls a webhook. Rejects if it did not take the call; `done`: it worked off everything at once. */
export type CallWebhook = (call: WakeCall) => Promise<{ readonly done: boolean }>;

export type ClaimOutcome =
  | { readonly kind: 'claimed'; readonly call: WakeCall }
  | { readonly kind: 'held'; readonly holder: string; readonly generation: number }
  | { readonly kind: 'idle' | 'missing' };

export type AckOutcome =
  | { readonly kind: 'done'; readonly nextWake: boolean }
  | { readonly kind: 'fenced' | 'missing' };

export function newToken(): string {
  return randomBytes(24).toString('base64url');
}

export function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
