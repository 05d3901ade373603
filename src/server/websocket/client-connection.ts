/** One WebSocket client: its authentication and its subscriptions. */
import type { RawData, WebSocket } from 'ws';
import { isRekindleError } from '../../core/errors.js';
import { sessionNotFound } from '../../state/shared/sessions/session-tree.js';
import type { AuditTrail } from '../access/audit-trail.js';
import { type Principal, reachesAgent, reachesRoot } from '../access/principal.js';
import { type ClientMessage, parseClientMessage } from './client-message.js';
import type { EventHub, Topic } from './event-hub.js';
import { CLOSE, SocketSender } from './socket-sender.js';
import { StateSubscription } from './state-subscription.js';

export interface ConnectionOptions {
  readonly hub: EventHub;
  readonly audit: AuditTrail;
  /** The principal of the upgrade request. Null: the token comes as the first message. */
  readonly principal: Principal | null;
  /** The principal of the token in a first message. */
  readonly authenticate: (token: string) => Promise<Principal | null>;
  /** The current principal of this token; for null, of the upgrade request. */
  readonly holder: (token: string | null) => Promise<Principal | null>;
  readonly stalledMs: number;
  readonly onUnexpected: (thrown: unknown) => void;
}

/** How long a client may take to authenticate, in ms. */
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
  #principal: Principal | null;
  /** The token of the first message. */
  #token: string | null = null;
  #answersPings = true;

  constructor(socket: WebSocket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#sender = new SocketSender(socket, options.stalledMs);
    this.#principal = options.principal;
    socket.on('message', (data, isBinary) => this.#take(data, isBinary));
    socket.on('pong', () => {
      this.#answersPings = true;
    });
    socket.on('error', () => socket.terminate()); // an invalid or too large frame: ws has already answered
    socket.on('close', () => this.#end());
    if (!this.#principal) setTimeout(() => this.#assertKnown(), AUTHENTICATE_MS).unref();
  }

  #assertKnown(): void {
    if (!this.#principal) this.#sender.close(CLOSE.unauthorized, 'no token came');
  }

  /** Disconnects a client that did not answer the last ping. */
  ping(): void {
    if (this.#answersPings) this.#socket.ping();
    else this.#socket.terminate();
    this.#answersPings = false;
    if (this.#principal) this.#assertAdmitted().catch((thrown: unknown) => this.#giveUp(thrown));
  }

  /** A token may have ended since. */
  async #assertAdmitted(): Promise<void> {
    if (!(await this.#options.holder(this.#token)))
      this.#sender.close(CLOSE.unauthorized, 'the token has ended');
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
      const principal = this.#principal;
      if (message.type === 'authenticate') await this.#authenticate(message.token);
      else if (!principal) this.#sender.close(CLOSE.unauthorized, 'the token must come first');
      else if (message.type === 'unsubscribe') await this.#unsubscribe(message.session);
      else if (message.to === 'state') await this.#subscribe(message, principal);
      else await this.#subscribeTo(message.to, principal);
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

  /** Disconnects, because events would be missing: the client reconnects with its last version. */
  #giveUp(thrown: unknown): void {
    this.#options.onUnexpected(thrown);
    this.#sender.close(CLOSE.failed, 'something went wrong');
  }

  async #authenticate(token: string): Promise<void> {
    // A principal never changes: subscriptions belong to it.
    if (!this.#principal) {
      this.#principal = await this.#options.authenticate(token);
      this.#token = token;
    }
    if (this.#principal) await this.#sender.message({ type: 'authenticated' });
    else this.#sender.close(CLOSE.unauthorized, 'the token is wrong');
  }

  async #subscribe({ session, since, history }: SubscribeToState, principal: Principal): Promise<void> {
    await this.#audited(principal, `session ${session}`, async () => {
      if (!reachesRoot(principal, await this.#options.hub.rootOf(session))) throw sessionNotFound(session);
    });
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

  #audited(principal: Principal, target: string, check = async () => {}): Promise<void> {
    const call = { actor: principal.name, action: 'read', target, what: 'subscribe' } as const;
    return this.#options.audit.checked(call, check);
  }

  async #subscribeTo(topic: Topic, principal: Principal): Promise<void> {
    await this.#audited(principal, topic);
    this.#topics.get(topic)?.();
    const off = await this.#options.hub.onTopic(topic, ({ message, agentId, root }) => {
      const isReached = root === null ? reachesAgent(principal, agentId) : reachesRoot(principal, root);
      if (isReached) void this.#sender.message(message);
    });
    if (!this.#sender.isOpen) {
      off(); // closed meanwhile
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
