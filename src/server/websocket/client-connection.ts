/** One WebSocket client: who it is, and what it is told. */
import type { RawData, WebSocket } from 'ws';
import { isRekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { type ClientMessage, parseClientMessage } from './client-message.js';
import type { EventHub } from './event-hub.js';
import { CLOSE, SocketSender } from './socket-sender.js';
import { StateSubscription } from './state-subscription.js';

export interface ConnectionOptions {
  readonly hub: EventHub;
  /** Null when the upgrade carried the token already. */
  readonly isToken: ((token: string) => boolean) | null;
  readonly stalledMs: number;
  readonly onUnexpected: (thrown: unknown) => void;
}

/** How long a client may take to say who it is. */
const AUTHENTICATE_MS = 5_000;
const SUBSCRIPTIONS_MAX = 100;

type SubscribeToState = Extract<ClientMessage, { readonly to: 'state' }>;

export class ClientConnection {
  readonly #socket: WebSocket;
  readonly #sender: SocketSender;
  readonly #options: ConnectionOptions;
  readonly #states = new Map<string, StateSubscription>();
  readonly #topics = new Map<string, () => void>();
  /** Messages are handled one after the other. */
  #handling: Promise<void> = Promise.resolve();
  #pending = 0;
  #known: boolean;
  #answersPings = true;

  constructor(socket: WebSocket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#sender = new SocketSender(socket, options.stalledMs);
    this.#known = options.isToken === null;
    socket.on('message', (data, isBinary) => this.#take(data, isBinary));
    socket.on('pong', () => {
      this.#answersPings = true;
    });
    socket.on('error', () => socket.terminate()); // a frame that is too large, or none: ws has said why
    socket.on('close', () => this.#end());
    if (!this.#known) setTimeout(() => this.#assertKnown(), AUTHENTICATE_MS).unref();
  }

  #assertKnown(): void {
    if (!this.#known) this.#sender.close(CLOSE.unauthorized, 'no token came');
  }

  /** Ends a connection that did not answer since the last time. */
  ping(): void {
    if (this.#answersPings) this.#socket.ping();
    else this.#socket.terminate();
    this.#answersPings = false;
  }

  close(code: number, reason: string): void {
    this.#sender.close(code, reason);
  }

  #take(data: RawData, isBinary: boolean): void {
    const message = isBinary ? null : parseClientMessage(String(data));
    if (!message || this.#pending >= SUBSCRIPTIONS_MAX) {
      this.#sender.close(CLOSE.badMessage, message ? 'too many messages' : 'the message is not known');
      return;
    }
    this.#pending += 1;
    this.#handling = this.#handling.then(() => this.#handle(message)).finally(() => (this.#pending -= 1));
  }

  async #handle(message: ClientMessage): Promise<void> {
    try {
      if (message.type === 'authenticate') await this.#authenticate(message.token);
      else if (!this.#known) this.#sender.close(CLOSE.unauthorized, 'the token must come first');
      else if (message.type === 'unsubscribe') await this.#unsubscribe(message.session);
      else if (message.to === 'state') await this.#subscribe(message);
      else await this.#subscribeTo(message.to);
    } catch (thrown) {
      await this.#fail(thrown);
    }
  }

  async #fail(thrown: unknown): Promise<void> {
    if (!isRekindleError(thrown)) {
      this.#giveUp(thrown);
      return;
    }
    await this.#sender.message({ type: 'error', code: thrown.code, message: thrown.message });
  }

  /** Events would be missing: the client comes again, with the last version that it has. */
  #giveUp(thrown: unknown): void {
    this.#options.onUnexpected(thrown);
    this.#sender.close(CLOSE.failed, 'something went wrong');
  }

  async #authenticate(token: string): Promise<void> {
    if (this.#options.isToken?.(token) ?? true) {
      this.#known = true;
      await this.#sender.message({ type: 'authenticated' });
    } else this.#sender.close(CLOSE.unauthorized, 'the token is wrong');
  }

  async #subscribe({ session, since, history }: SubscribeToState): Promise<void> {
    const feed = await this.#options.hub.stateFeed(session);
    const { root } = feed.state;
    const goesOn = since === undefined || (await feed.state.continues(since, history));
    const position = await feed.state.position();
    const current = position.globalVersion;
    if (!this.#sender.isOpen) return;
    this.#states.get(root)?.end();
    if (!this.#states.has(root) && this.#states.size >= SUBSCRIPTIONS_MAX) {
      this.#sender.close(CLOSE.badMessage, 'too many subscriptions');
      return;
    }
    const from = goesOn ? (since ?? current) : current;
    const subscription = new StateSubscription(feed, this.#sender, from, (thrown) => this.#giveUp(thrown));
    if (!goesOn) subscription.resyncFirst();
    this.#states.set(root, subscription);
    const note = {
      type: 'subscribed',
      to: 'state',
      root_session_id: root,
      global_version: current,
      ...(position.history === undefined ? {} : { history: position.history }),
      since: from,
    };
    if (await this.#sender.message(note)) subscription.start();
  }

  async #unsubscribe(session: string): Promise<void> {
    const root = await this.#options.hub.rootOf(session);
    this.#states.get(root)?.end();
    this.#states.delete(root);
    await this.#sender.message({ type: 'unsubscribed', root_session_id: root });
  }

  async #subscribeTo(topic: 'sessions' | 'agents'): Promise<void> {
    this.#topics.get(topic)?.();
    const tell = (message: JsonObject) => void this.#sender.message(message);
    const off = await this.#options.hub.onTopic(topic, tell);
    if (!this.#sender.isOpen) {
      off(); // it closed meanwhile
      return;
    }
    this.#topics.set(topic, off);
    await this.#sender.message({ type: 'subscribed', to: topic });
  }

  #end(): void {
    for (const subscription of this.#states.values()) subscription.end();
    for (const off of this.#topics.values()) off();
    this.#states.clear();
    this.#topics.clear();
  }
}
