/**
 * The events of the store for WebSocket clients: watched once for all clients, and only while the server
 * runs.
 */
import type { JsonObject } from '../../core/json.js';
import type { SharedSessions } from '../../state/shared/shared-sessions.js';
import type { StorageBackend } from '../../storage/ports.js';
import { sessionToWire } from '../http/wire.js';
import { StateFeed } from './state-feed.js';

export type Topic = 'sessions' | 'agents';
/** An event with its agent, or with the root of its session. */
export interface TopicEvent {
  readonly message: JsonObject;
  readonly agentId: string | null;
  readonly root: string | null;
}

type Listener = (event: TopicEvent) => void;

/** A working agent writes many times per turn: clients are notified once per this interval (ms). */
const AGENT_QUIET_MS = 250;

export class EventHub {
  readonly #backend: StorageBackend;
  readonly #shared: SharedSessions;
  readonly #feeds = new Map<string, Promise<StateFeed>>();
  readonly #listeners: Record<Topic, Set<Listener>> = { sessions: new Set(), agents: new Set() };
  readonly #watching = new Map<Topic, Promise<() => Promise<void>>>();
  readonly #quiet = new Map<string, NodeJS.Timeout>();

  constructor(backend: StorageBackend, shared: SharedSessions) {
    this.#backend = backend;
    this.#shared = shared;
  }

  /** @throws SESSION_NOT_FOUND */
  async stateFeed(session: string): Promise<StateFeed> {
    const state = await this.#shared.stateOf(session);
    let feed = this.#feeds.get(state.root);
    if (!feed) {
      const made = new StateFeed(state, () => {
        this.#feeds.delete(state.root);
        made.close().catch(() => {}); // its watcher ends in any case
      });
      feed = made.start().then(() => made);
      this.#feeds.set(state.root, feed);
      feed.catch(() => this.#feeds.delete(state.root)); // the next subscriber tries again
    }
    (await feed).touch();
    return feed;
  }

  /** @throws SESSION_NOT_FOUND */
  rootOf(session: string): Promise<string> {
    return this.#shared.tree.rootOf(session);
  }

  /** The returned function stops it. */
  async onTopic(topic: Topic, listener: Listener): Promise<() => void> {
    let watching = this.#watching.get(topic);
    if (!watching) {
      watching = topic === 'sessions' ? this.#watchSessions() : this.#watchAgents();
      this.#watching.set(topic, watching);
      watching.catch(() => this.#watching.delete(topic));
    }
    await watching;
    this.#listeners[topic].add(listener);
    return () => this.#listeners[topic].delete(listener);
  }

  async #watchSessions(): Promise<() => Promise<void>> {
    const { tree } = this.#shared;
    const off = tree.events.on('changed', (session) =>
      this.#tell('sessions', {
        message: { type: 'session_updated', session: sessionToWire(session) },
        agentId: null,
        root: session.root,
      }),
    );
    const end = await tree.watch().catch((thrown: unknown) => {
      off();
      throw thrown;
    });
    return async () => {
      off();
      await end();
    };
  }

  #watchAgents(): Promise<() => Promise<void>> {
    return this.#backend.watch(['agents'], ({ path }) => {
      const agentId = path.split('/')[0] ?? '';
      if (agentId === '' || this.#quiet.has(agentId)) return;
      const timer = setTimeout(() => {
        this.#quiet.delete(agentId);
        const message = { type: 'agent_updated', agent_id: agentId };
        this.#tell('agents', { message, agentId, root: null });
      }, AGENT_QUIET_MS);
      this.#quiet.set(agentId, timer);
    });
  }

  #tell(topic: Topic, event: TopicEvent): void {
    for (const listener of this.#listeners[topic]) listener(event);
  }

  async close(): Promise<void> {
    for (const timer of this.#quiet.values()) clearTimeout(timer);
    const feeds = await Promise.allSettled(this.#feeds.values());
    for (const feed of feeds) if (feed.status === 'fulfilled') await feed.value.close();
    const watches = await Promise.allSettled(this.#watching.values());
    for (const watch of watches) if (watch.status === 'fulfilled') await watch.value();
  }
}
