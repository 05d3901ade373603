/** The stored subscriptions: one document each, changed by compare-and-set, so that several servers may share a store. */
import { isRekindleError, RekindleError } from '../../core/errors.js';
import { isJsonObject } from '../../core/json.js';
import type { StorageBackend } from '../../storage/ports.js';
import { encodeSubscription, type Subscription } from './subscription.js';

const FOLDER = 'stream_subscriptions';
/** Other servers may change it at the same time, but not so often. */
const TRIES = 20;

export class SubscriptionStore {
  readonly #backend: StorageBackend;
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(backend: StorageBackend) {
    this.#backend = backend;
  }

  ids(): Promise<string[]> {
    return this.#backend.documents.list([FOLDER]);
  }

  async read(id: string): Promise<Subscription | null> {
    return (await this.#load(id))?.subscription ?? null;
  }

  /**
   * Changes a subscription, one change at a time. Returning the same object writes nothing, null deletes. Durable when it resolves.
   * @throws what `change` throws, INVALID_NAME
   */
  update<T extends { readonly next: Subscription | null }>(
    id: string,
    change: (subscription: Subscription | null) => T,
  ): Promise<T> {
    const before = this.#queues.get(id) ?? Promise.resolve();
    const running = before.then(() => this.#change(id, change));
    const settled = running
      .catch(() => {})
      .then(() => {
        if (this.#queues.get(id) === settled) this.#queues.delete(id);
      });
    this.#queues.set(id, settled);
    return running;
  }

  async #change<T extends { readonly next: Subscription | null }>(
    id: string,
    change: (subscription: Subscription | null) => T,
  ): Promise<T> {
    const { documents } = this.#backend;
    for (let tries = 1; ; tries += 1) {
      const stored = await this.#load(id);
      const result = change(stored?.subscription ?? null);
      if (result.next === (stored?.subscription ?? null)) return result;
      if (result.next === null) {
        await documents.delete([FOLDER, id]);
        return result;
      }
      try {
        const options = { ifVersion: stored?.version ?? null };
        await documents.write([FOLDER, id], encodeSubscription(result.next), options);
        return result;
      } catch (thrown) {
        if (!isRekindleError(thrown, 'DOCUMENT_CONFLICT') || tries === TRIES) throw thrown;
      }
    }
  }

  async #load(id: string): Promise<{ subscription: Subscription; version: string } | null> {
    const stored = await this.#backend.documents.read([FOLDER, id]);
    if (!stored) return null;
    const { value, version } = stored;
    if (!isJsonObject(value) || value['format'] !== 1 || !isJsonObject(value['config']))
      throw new RekindleError(
        'UNSUPPORTED_VERSION',
        `The subscription ${JSON.stringify(id)} cannot be read.`,
        {
          details: { name: id },
        },
      );
    const { format: _, ...subscription } = value;
    return { subscription: subscription as unknown as Subscription, version };
  }
}
