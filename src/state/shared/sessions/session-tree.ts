import { type Clock, systemClock } from '../../../core/clock.js';
import { RekindleError } from '../../../core/errors.js';
import { TypedEvents } from '../../../core/events.js';
import { newId } from '../../../core/ids.js';
import type { JsonObject } from '../../../core/json.js';
import { nameProblem } from '../../../core/name-problem.js';
import { followFrom, JOURNAL_START } from '../../../storage/journal-position.js';
import { encodeNameSegment } from '../../../storage/name-encoding.js';
import type { Name, StorageBackend } from '../../../storage/ports.js';
import { SharedJournal } from '../../../storage/shared-journal.js';
import { isPersonActor } from '../person-actor.js';
import {
  decodeSession,
  encodeSession,
  hasEnded,
  isStatus,
  nextStatuses,
  SESSION_STATUSES,
  type SessionStatus,
  type TreeSession,
} from './session-record.js';
import { SessionRoots } from './session-roots.js';

/** Options of `SessionTree`. */
export interface SessionTreeOptions {
  /** Default `['shared']`. */
  readonly folder?: Name;
  /** How long to wait while other processes write, in ms. Default 15,000. */
  readonly waitMs?: number;
  readonly clock?: Clock;
}

/** A session to create. */
export interface NewTreeSession {
  /** Default: a generated id. */
  readonly id?: string;
  /** Without a parent, it is a root. */
  readonly parent?: string;
  readonly agent?: string;
  /** Default `pending`. */
  readonly status?: SessionStatus;
}

/** Filter of `SessionTree.list`; all given fields must match. */
export interface SessionQuery {
  readonly root?: string;
  readonly parent?: string;
  readonly status?: SessionStatus;
}

/** A session that still works although its parent ended. */
export interface OrphanSession {
  readonly session: TreeSession;
  /**
   * `parent_ended`: `ancestor` is the nearest session above that ended. `parent_missing`: the record of
   * `ancestor` is damaged or was removed.
   */
  readonly reason: 'parent_ended' | 'parent_missing';
  readonly ancestor: string;
}

/** Event names and payloads, for `tree.events.on(name, listener)`. */
export type SessionTreeEvents = {
  /** A new session or status, by any process, in order. */
  changed: TreeSession;
};

const ID_LENGTH_MAX = 128;
const WHY_LENGTH_MAX = 2_000;

/**
 * Root sessions and their children, at any depth. A child always belongs to the root of its parent; its state
 * is stored there. Several processes may change the tree at once.
 */
export class SessionTree {
  readonly events = new TypedEvents<SessionTreeEvents>();
  readonly #clock: Clock;
  readonly #journal: SharedJournal<JsonObject>;
  #sessions = new Map<string, TreeSession>();
  #roots = new SessionRoots();

  /** Reads nothing yet. */
  constructor(backend: StorageBackend, options: SessionTreeOptions = {}) {
    const folder = [...(options.folder ?? ['shared']), 'tree'];
    this.#clock = options.clock ?? systemClock;
    this.#journal = new SharedJournal(backend, {
      journal: [...folder, 'sessions'],
      lease: [...folder, 'sessions.lease'],
      fold: {
        load: async (journal) => {
          this.#sessions = new Map();
          this.#roots = new SessionRoots();
          const head = await followFrom(journal, JOURNAL_START, ({ record }) => this.#put(record));
          this.#deriveRoots();
          return head ?? JOURNAL_START;
        },
        apply: ({ record }) => {
          const before = this.#sessions.size;
          const session = this.#put(record);
          if (this.#sessions.size > before) this.#deriveRoots();
          if (session) this.events.emit('changed', session);
        },
      },
      ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
    });
  }

  /**
   * Creates a session. Durable when it resolves.
   * @throws SESSION_NOT_FOUND for a missing parent, SESSION_EXISTS, INVALID_NAME for a root, SESSION_STATE
   * below an ended parent, INVALID_ARGUMENT
   */
  async create(options: NewTreeSession = {}): Promise<TreeSession> {
    const { parent = null, agent = null, status = 'pending' } = options;
    const id = options.id ?? newId('session', this.#clock.nowMs());
    assertId('id', id);
    if (isPersonActor(id)) throw invalid('id', '`user:` begins the name of a person');
    if (parent !== null) assertId('parent', parent);
    if (agent !== null) assertId('agent', agent);
    assertStatus(status);
    if (parent === null) encodeNameSegment(id); // the state of a root has its own folder
    if (parent === id) throw invalid('parent', 'a session cannot be its own parent');
    return this.#change(() => {
      if (this.#sessions.has(id)) throw exists(this.#sessions.get(id)!);
      const above = parent === null ? null : this.#required(parent);
      if (above && hasEnded(above.status)) throw wrongState(above, 'it has ended, and takes no children');
      const at = new Date(this.#clock.nowMs()).toISOString();
      const root = above?.root ?? id;
      return { id, parent, root, agent, status, why: null, createdAt: at, updatedAt: at };
    });
  }

  /**
   * Sets the status. The same status again changes nothing. @throws SESSION_NOT_FOUND, SESSION_STATE with the
   * possible ones
   */
  async setStatus(
    id: string,
    status: SessionStatus,
    options: { readonly why?: string } = {},
  ): Promise<TreeSession> {
    assertStatus(status);
    const why = options.why ?? null;
    if (why !== null && (typeof why !== 'string' || !why.isWellFormed() || why.length > WHY_LENGTH_MAX))
      throw invalid('why', `it is a text of at most ${WHY_LENGTH_MAX} characters`);
    return this.#change(() => {
      const session = this.#required(id);
      if (session.status === status) return session;
      if (!nextStatuses(session.status).includes(status))
        throw wrongState(
          session,
          `it can become ${nextStatuses(session.status).join(', ')}, but not ${status}`,
        );
      return { ...session, status, why, updatedAt: new Date(this.#clock.nowMs()).toISOString() };
    });
  }

  /** Null if there is none. */
  async get(id: string): Promise<TreeSession | null> {
    await this.#journal.refresh();
    return this.#sessions.get(id) ?? null;
  }

  /** Like `get`. @throws SESSION_NOT_FOUND */
  async require(id: string): Promise<TreeSession> {
    await this.#journal.refresh();
    return this.#required(id);
  }

  /** The root never changes, so a known session is not read again. @throws SESSION_NOT_FOUND */
  async rootOf(id: string): Promise<string> {
    return (this.#sessions.get(id) ?? (await this.require(id))).root;
  }

  /** The matching sessions, oldest first. */
  async list(query: SessionQuery = {}): Promise<TreeSession[]> {
    await this.#journal.refresh();
    return [...this.#sessions.values()].filter(
      ({ root, parent, status }) =>
        (query.root === undefined || root === query.root) &&
        (query.parent === undefined || parent === query.parent) &&
        (query.status === undefined || status === query.status),
    );
  }

  /** Active sessions below a session that ended or is missing. */
  async orphans(): Promise<OrphanSession[]> {
    await this.#journal.refresh();
    const orphans: OrphanSession[] = [];
    for (const session of this.#sessions.values()) {
      const broken = hasEnded(session.status) ? null : this.#brokenAbove(session);
      if (broken) orphans.push({ session, ...broken });
    }
    return orphans;
  }

  /**
   * The nearest ancestor that ended or is missing. In a cycle, which only a damaged journal has, an ancestor
   * counts as missing.
   */
  #brokenAbove({ id, parent }: TreeSession): Pick<OrphanSession, 'reason' | 'ancestor'> | null {
    const seen = new Set([id]);
    for (let above = parent; above !== null; ) {
      const session = this.#sessions.get(above);
      if (!session || seen.has(above)) return { reason: 'parent_missing', ancestor: above };
      if (hasEnded(session.status)) return { reason: 'parent_ended', ancestor: above };
      seen.add(above);
      above = session.parent;
    }
    return null;
  }

  /** Watches for changes by other processes and emits `events` for them. The returned function stops it. */
  watch(): Promise<() => Promise<void>> {
    return this.#journal.watch();
  }

  close(): Promise<void> {
    return this.#journal.close();
  }

  async #change(decide: () => TreeSession): Promise<TreeSession> {
    return this.#journal.change(async () => {
      const session = decide();
      const done = () => session;
      if (this.#sessions.get(session.id) === session) return { secure: true, done };
      return { record: encodeSession(session), done };
    });
  }

  #put(record: JsonObject): TreeSession | null {
    this.#roots.add(record);
    const session = decodeSession(record, (id) => this.#roots.rootOf(id));
    if (session) this.#sessions.set(session.id, Object.freeze(session)); // frozen, because callers get the object itself
    return session;
  }

  /** The record of a parent may come after those of its children. */
  #deriveRoots(): void {
    for (const id of this.#roots.derived) {
      const session = this.#sessions.get(id);
      const root = this.#roots.rootOf(id);
      if (session && session.root !== root) this.#sessions.set(id, Object.freeze({ ...session, root }));
    }
  }

  #required(id: string): TreeSession {
    const session = this.#sessions.get(id);
    if (session) return session;
    throw sessionNotFound(id);
  }
}

export function sessionNotFound(id: string): RekindleError {
  return new RekindleError('SESSION_NOT_FOUND', `There is no session ${JSON.stringify(id)}.`, {
    details: { id },
  });
}

function assertId(field: string, id: unknown): void {
  const problem = nameProblem(id, ID_LENGTH_MAX);
  if (problem !== null) throw invalid(field, problem);
}

function assertStatus(status: unknown): void {
  if (!isStatus(status)) throw invalid('status', `it is one of ${SESSION_STATUSES.join(', ')}`);
}

function invalid(field: string, problem: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `${field} of a session is refused: ${problem}.`, {
    details: { field, problem },
  });
}

function exists({ id, status }: TreeSession): RekindleError {
  return new RekindleError('SESSION_EXISTS', `There is a session ${JSON.stringify(id)} already.`, {
    details: { id, status },
  });
}

function wrongState({ id, status }: TreeSession, what: string): RekindleError {
  const possible = nextStatuses(status);
  const text = `The session ${JSON.stringify(id)} is ${status}: ${what}.`;
  return new RekindleError('SESSION_STATE', text, { details: { id, status, possible: [...possible] } });
}
