/** Wakes workers when streams have something new: by a webhook, or by events in a stream. Positions and claims are durable. */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, systemClock } from '../../core/clock.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { DurableStreams } from '../durable-streams.js';
import { streamPaths } from '../stream-name.js';
import {
  acknowledged,
  follows,
  followsByPattern,
  hasPending,
  isProven,
  linked,
  type Subscription,
  type SubscriptionConfig,
  type Tails,
  type Wake,
  type WakeProof,
  withoutExplicit,
  withoutLapsed,
  woken,
} from './subscription.js';
import { SubscriptionStore } from './subscription-store.js';
import {
  type AckOutcome,
  type CallWebhook,
  type ClaimOutcome,
  digestOf,
  newToken,
  type WakeCall,
} from './wake-call.js';

export interface StreamSubscriptionsOptions {
  readonly callWebhook: CallWebhook;
  readonly clock?: Clock;
  /** What went wrong in the background. */
  readonly onFailed: (thrown: unknown) => void;
}

const RETRY_MS = { first: 1_000, most: 60_000, jitter: 0.2 } as const;

export class StreamSubscriptions {
  readonly #backend: StorageBackend;
  readonly #streams: DurableStreams;
  readonly #store: SubscriptionStore;
  readonly #options: StreamSubscriptionsOptions;
  readonly #clock: Clock;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #working = new Set<Promise<void>>();
  #known: Set<string> | null = null;
  #isClosed = false;

  constructor(backend: StorageBackend, streams: DurableStreams, options: StreamSubscriptionsOptions) {
    this.#backend = backend;
    this.#streams = streams;
    this.#store = new SubscriptionStore(backend);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    streams.onChange((path) => this.#background(() => this.#changed(path)));
  }

  /** Takes up work that an earlier process left. */
  start(): void {
    this.#background(async () => {
      const ids = await this.#ids();
      if (ids.size === 0) return;
      const paths = await streamPaths(this.#backend);
      for (const id of ids) await this.#check(id, paths, true);
    });
  }

  /** Creates a subscription, or finds the same one. Streams that exist are followed from their end. Durable when it resolves. */
  async create(
    id: string,
    config: SubscriptionConfig,
    origin: string,
  ): Promise<{ readonly kind: 'created' | 'exists' | 'differs'; readonly subscription: Subscription }> {
    const paths = (await streamPaths(this.#backend)).filter((path) => followsByPattern(config, path));
    const tails = await this.#tails([...paths, ...config.streams]);
    const acked = (path: string) => tails.get(path) ?? 0;
    const fresh: Subscription = {
      ...{ id, config, origin, createdMs: this.#clock.nowMs() },
      ...{ generation: 0, links: [], wake: null, failed: null },
    };
    const next = linked(linked(fresh, paths, { isExplicit: false, acked }), config.streams, {
      isExplicit: true,
      acked,
    });
    const { kind, next: subscription } = await this.#store.update(id, (known) => {
      if (!known) return { kind: 'created' as const, next };
      return {
        kind: isDeepStrictEqual(known.config, config) ? ('exists' as const) : ('differs' as const),
        next: known,
      };
    });
    (await this.#ids()).add(id);
    return { kind, subscription };
  }

  read(id: string): Promise<Subscription | null> {
    return this.#store.read(id);
  }

  /** False if there is none. */
  async delete(id: string): Promise<boolean> {
    const { was } = await this.#store.update(id, (known) => ({ was: known !== null, next: null }));
    (await this.#ids()).delete(id);
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    return was;
  }

  /** Follows more streams, from their end. False if there is no such subscription. */
  async addStreams(id: string, paths: readonly string[]): Promise<boolean> {
    const tails = await this.#tails(paths);
    const how = { isExplicit: true, acked: (path: string) => tails.get(path) ?? 0 };
    const { next } = await this.#store.update(id, (known) => ({ next: known && linked(known, paths, how) }));
    return next !== null;
  }

  async removeStream(id: string, path: string): Promise<boolean> {
    const { next } = await this.#store.update(id, (known) => ({
      next: known && withoutExplicit(known, path),
    }));
    return next !== null;
  }

  /** Makes a worker the one that works now, if something is pending and nobody else does. */
  async claim(id: string, worker: string): Promise<ClaimOutcome> {
    const tails = await this.#tailsOf(await this.#store.read(id));
    const token = newToken();
    const { outcome } = await this.#store.update(
      id,
      (known): { outcome: ClaimOutcome; next: Subscription | null } => {
        if (known?.config.type !== 'pull-wake') return { outcome: { kind: 'missing' }, next: known };
        const current = withoutLapsed(known, this.#clock.nowMs());
        if (current.wake?.holder)
          return {
            outcome: { kind: 'held', holder: current.wake.holder, generation: current.wake.generation },
            next: known,
          };
        if (!hasPending(current, tails)) return { outcome: { kind: 'idle' }, next: known };
        const begun = current.wake ? current : woken(current, this.#newWake(tails));
        const untilMs = this.#clock.nowMs() + known.config.leaseMs;
        const wake = { ...begun.wake!, holder: worker, untilMs, tokenDigest: digestOf(token) };
        const next = { ...begun, wake };
        return { outcome: { kind: 'claimed', call: { subscription: next, wake, token, tails } }, next };
      },
    );
    this.#later(id);
    return outcome;
  }

  /** Moves positions forward, and ends the work or extends the time for it. */
  async acknowledge(
    id: string,
    proof: WakeProof,
    acks: ReadonlyMap<string, number>,
    isDone: boolean,
  ): Promise<AckOutcome> {
    const tails = await this.#tailsOf(await this.#store.read(id));
    const { outcome } = await this.#store.update(
      id,
      (known): { outcome: AckOutcome; next: Subscription | null } => {
        if (!known) return { outcome: { kind: 'missing' }, next: null };
        const current = withoutLapsed(known, this.#clock.nowMs());
        if (!isProven(current, proof)) return { outcome: { kind: 'fenced' }, next: known };
        const moved = acknowledged(current, acks, tails);
        const untilMs = this.#clock.nowMs() + known.config.leaseMs;
        const wake = isDone ? null : { ...current.wake!, untilMs };
        return {
          outcome: { kind: 'done', nextWake: isDone && hasPending(moved, tails) },
          next: { ...moved, wake },
        };
      },
    );
    this.#background(() => this.#check(id, []));
    return outcome;
  }

  /** Ends the work without moving positions. */
  release(id: string, proof: WakeProof): Promise<AckOutcome> {
    return this.acknowledge(id, proof, new Map(), true);
  }

  async #ids(): Promise<Set<string>> {
    this.#known ??= new Set(await this.#store.ids());
    return this.#known;
  }

  async #changed(path: string): Promise<void> {
    for (const id of await this.#ids()) await this.#check(id, [path]);
  }

  async #tails(paths: Iterable<string>): Promise<Map<string, number>> {
    const tails = new Map<string, number>();
    for (const path of new Set(paths)) {
      const info = await this.#streams.info(path);
      if (!('kind' in info)) tails.set(path, info.tail);
    }
    return tails;
  }

  /** Where the streams of a subscription end. `paths`: others that its pattern may follow. */
  async #tailsOf(subscription: Subscription | null, paths: readonly string[] = []): Promise<Tails> {
    if (!subscription) return new Map();
    const { links, config } = subscription;
    const found = paths.filter((path) => followsByPattern(config, path));
    return this.#tails([...links.map(({ path }) => path), ...found]);
  }

  /** Begins a wake if something is pending and nobody works. `paths`: streams that may be new. */
  async #check(id: string, paths: readonly string[], again = false): Promise<void> {
    const subscription = await this.#store.read(id);
    if (!subscription) return;
    // Before the ends of its streams are read: most appends concern few subscriptions.
    if (paths.length > 0 && !paths.some((path) => follows(subscription, path))) return;
    const tails = await this.#tailsOf(subscription, paths);
    const token = newToken();
    const { begun, next } = await this.#store.update(
      id,
      (known): { begun: Wake | null; next: Subscription | null } => {
        if (!known) return { begun: null, next: null };
        const nowMs = this.#clock.nowMs();
        const found = paths.filter((path) => followsByPattern(known.config, path) && tails.has(path));
        const isKnown = found.every((path) => known.links.some((link) => link.path === path && link.isGlob));
        const with_ = isKnown ? known : linked(known, found, { isExplicit: false, acked: () => 0 });
        const current = withoutLapsed(with_, nowMs);
        if (current.wake)
          return { begun: again && !current.wake.holder ? current.wake : null, next: current };
        if ((current.failed?.nextMs ?? 0) > nowMs || !hasPending(current, tails))
          return { begun: null, next: current };
        const isCall = current.config.type === 'webhook';
        const wake = {
          ...this.#newWake(tails),
          ...(isCall ? { tokenDigest: digestOf(token), untilMs: nowMs + current.config.leaseMs } : {}),
        };
        const next = woken(current, wake);
        return { begun: next.wake, next };
      },
    );
    this.#later(id);
    if (begun && next) await this.#wake({ subscription: next, wake: begun, token, tails });
  }

  #newWake(tails: Tails): Omit<Wake, 'generation'> {
    const id = `w_${randomBytes(9).toString('base64url')}`;
    return { id, tokenDigest: null, holder: null, untilMs: null, tails: Object.fromEntries(tails) };
  }

  async #wake(call: WakeCall): Promise<void> {
    const { subscription, wake } = call;
    const { id, config } = subscription;
    if (config.type === 'webhook') return this.#call(call);
    const pending = subscription.links.find(({ path, acked }) => (call.tails.get(path) ?? 0) > acked);
    const event = {
      ...{ type: 'wake', subscription_id: id, stream: pending?.path ?? null },
      ...{ generation: wake.generation, ts: this.#clock.nowMs() },
    };
    const body = Buffer.from(JSON.stringify([event]));
    const { kind } = await this.#streams.append(config.wakeStream!, { type: 'application/json', body });
    if (kind !== 'appended') await this.#postpone(id, wake);
  }

  async #call(call: WakeCall): Promise<void> {
    const { subscription, wake } = call;
    const { id } = subscription;
    try {
      const { done } = await this.#options.callWebhook(call);
      const { tails } = wake;
      await this.#store.update(id, (known) => {
        if (known?.wake?.id !== wake.id) return { next: known };
        if (!done) return { next: { ...known, failed: null } };
        const all = new Map(Object.entries(tails));
        return { next: { ...acknowledged(known, all, all), wake: null, failed: null } };
      });
      if (done) await this.#check(id, []);
    } catch (thrown) {
      this.#options.onFailed(thrown);
      await this.#postpone(id, wake);
    }
  }

  /** The worker could not be reached: later again, each time later. */
  async #postpone(id: string, wake: Wake): Promise<void> {
    await this.#store.update(id, (known) => {
      if (known?.wake?.id !== wake.id) return { next: known };
      const attempts = (known.failed?.attempts ?? 0) + 1;
      const pause = Math.min(RETRY_MS.most, RETRY_MS.first * 2 ** (attempts - 1));
      const nextMs = this.#clock.nowMs() + pause * (1 + RETRY_MS.jitter * (2 * Math.random() - 1));
      return { next: { ...known, wake: null, failed: { attempts, nextMs } } };
    });
    this.#later(id);
  }

  /** Looks again when a worker loses its right to work, or a webhook is due. */
  #later(id: string): void {
    this.#background(async () => {
      const subscription = await this.#store.read(id);
      clearTimeout(this.#timers.get(id));
      this.#timers.delete(id);
      const at = subscription?.wake?.untilMs ?? subscription?.failed?.nextMs;
      if (at === undefined || at === null || this.#isClosed) return;
      const timer = setTimeout(
        () => this.#background(() => this.#check(id, [])),
        Math.max(1, at - this.#clock.nowMs()),
      );
      this.#timers.set(id, timer.unref());
    });
  }

  #background(work: () => Promise<void>): void {
    if (this.#isClosed) return;
    const running = work()
      .catch(this.#options.onFailed)
      .finally(() => this.#working.delete(running));
    this.#working.add(running);
  }

  /** Waits for work in progress. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.allSettled(this.#working);
  }
}
