/** A subscription: which streams it follows, how far their content was worked off, and who works now. Pure functions. */
import type { JsonObject } from '../../core/json.js';

/** The streams that a subscription follows, and how it wakes workers. */
export interface SubscriptionConfig {
  /** `webhook`: the server calls an address. `pull-wake`: workers read a stream of events, and claim. */
  readonly type: 'webhook' | 'pull-wake';
  /** Paths of streams: `*` stands for one part, `**` for any number. */
  readonly pattern: string | null;
  /** Paths that are followed, too; sorted. */
  readonly streams: readonly string[];
  readonly webhookUrl: string | null;
  readonly wakeStream: string | null;
  readonly leaseMs: number;
  readonly description: string | null;
}

export interface StreamLink {
  readonly path: string;
  readonly isExplicit: boolean;
  readonly isGlob: boolean;
  /** Everything before this position was worked off. */
  readonly acked: number;
}

/** One call for work. At most one at a time. */
export interface Wake {
  readonly id: string;
  readonly generation: number;
  /** SHA-256 of the token that its worker proves itself with; null: nobody has it yet. */
  readonly tokenDigest: string | null;
  readonly holder: string | null;
  /** When the worker has lost it, in milliseconds since 1970; null: it waits for a worker. */
  readonly untilMs: number | null;
  /** Where the streams ended when it began. */
  readonly tails: Readonly<Record<string, number>>;
}

export interface Subscription {
  readonly id: string;
  readonly config: SubscriptionConfig;
  /** The address at which the server was reached when it was created. */
  readonly origin: string;
  readonly createdMs: number;
  readonly generation: number;
  readonly links: readonly StreamLink[];
  readonly wake: Wake | null;
  /** After failed calls of the webhook: when to try again. */
  readonly failed: { readonly attempts: number; readonly nextMs: number } | null;
}

/** What proves that a request comes from the current worker. */
export interface WakeProof {
  readonly wakeId: string;
  readonly generation: number;
  readonly tokenDigest: string;
}

export type Tails = ReadonlyMap<string, number>;

export function matchesPattern(pattern: string, path: string): boolean {
  return matchParts(pattern.split('/'), path.split('/'));
}

function matchParts(pattern: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return path.length === 0;
  if (first === '**')
    return path.some((_, index) => matchParts(rest, path.slice(index))) || matchParts(rest, []);
  const [part, ...others] = path;
  return part !== undefined && matchPart(first, part) && matchParts(rest, others);
}

function matchPart(pattern: string, part: string): boolean {
  const pieces = pattern.split('*');
  if (pieces.length === 1) return pattern === part;
  const first = pieces[0]!;
  const last = pieces.at(-1)!;
  if (!part.startsWith(first) || !part.endsWith(last)) return false;
  if (part.length < first.length + last.length) return false;
  let rest = part.slice(first.length, part.length - last.length);
  for (const piece of pieces.slice(1, -1)) {
    const at = rest.indexOf(piece);
    if (at < 0) return false;
    rest = rest.slice(at + piece.length);
  }
  return true;
}

/** Whether the pattern follows a stream. The stream of its own events is never followed. */
export function followsByPattern({ pattern, wakeStream }: SubscriptionConfig, path: string): boolean {
  return pattern !== null && path !== wakeStream && matchesPattern(pattern, path);
}

/** Whether a change of a stream concerns the subscription. */
export function follows({ config, links }: Subscription, path: string): boolean {
  return links.some((link) => link.path === path) || followsByPattern(config, path);
}

/** With a link to each path: those that are there keep their position, new ones begin at `acked`. */
export function linked(
  subscription: Subscription,
  paths: Iterable<string>,
  how: { readonly isExplicit: boolean; acked(path: string): number },
): Subscription {
  const links = new Map(subscription.links.map((link) => [link.path, link]));
  for (const path of paths) {
    const known = links.get(path) ?? { path, isExplicit: false, isGlob: false, acked: how.acked(path) };
    links.set(path, how.isExplicit ? { ...known, isExplicit: true } : { ...known, isGlob: true });
  }
  return { ...subscription, links: [...links.values()] };
}

export function withoutExplicit(subscription: Subscription, path: string): Subscription {
  const links = subscription.links
    .map((link) => (link.path === path ? { ...link, isExplicit: false } : link))
    .filter((link) => link.isExplicit || link.isGlob);
  return { ...subscription, links };
}

export function hasPending({ links }: Subscription, tails: Tails): boolean {
  return links.some(({ path, acked }) => (tails.get(path) ?? 0) > acked);
}

/** Without a worker that has lost its right to work. */
export function withoutLapsed(subscription: Subscription, nowMs: number): Subscription {
  const until = subscription.wake?.untilMs ?? null;
  return until !== null && until <= nowMs ? { ...subscription, wake: null } : subscription;
}

/** Begins the next wake. */
export function woken(subscription: Subscription, wake: Omit<Wake, 'generation'>): Subscription {
  const generation = subscription.generation + 1;
  return { ...subscription, generation, wake: { ...wake, generation } };
}

export function isProven({ wake }: Subscription, { wakeId, generation, tokenDigest }: WakeProof): boolean {
  return wake?.id === wakeId && wake.generation === generation && wake.tokenDigest === tokenDigest;
}

/** Moves positions forward, never back, and never past what was there. */
export function acknowledged(
  subscription: Subscription,
  acks: ReadonlyMap<string, number>,
  tails: Tails,
): Subscription {
  const links = subscription.links.map((link) => {
    const upTo = Math.min(acks.get(link.path) ?? 0, tails.get(link.path) ?? 0);
    return upTo > link.acked ? { ...link, acked: upTo } : link;
  });
  return { ...subscription, links };
}

export function encodeSubscription(subscription: Subscription): JsonObject {
  return JSON.parse(JSON.stringify({ format: 1, ...subscription })) as JsonObject;
}
