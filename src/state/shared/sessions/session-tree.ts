/**
 * Root sessions and their children, at any depth. A child belongs to the root of its parent for ever: that root is where its state
 * is. Several processes may change the tree at once.
 */
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

export interface SessionTreeOptions {
  /** Default `['shared']`. */
  readonly folder?: Name;
  /** How long to wait while other processes write, in milliseconds. Default 15,000. */
  readonly waitMs?: number;
  readonly clock?: Clock;
}

export interface NewTreeSession {
  /** Default: a new one. */
  readonly id?: string;
  /** Without one it is a root. */
  readonly parent?: string;
  readonly agent?: string;
  /** Default `pending`. */
  readonly status?: SessionStatus;
}

export interface SessionQuery {
  readonly root?: string;
  readonly parent?: string;
  readonly status?: SessionStatus;
}

/** A session that works on although what it works for is over. */
export interface OrphanSession {
  readonly session: TreeSession;
  /** `parent_ended`: the nearest one above that ended is named. `parent_missing`: its record is damaged or was removed. */
  readonly reason: 'parent_ended' | 'parent_missing';
  readonly ancestor: string;
}

export type SessionTreeEvents = {
  /** A new session or status, whoever made it, in order. */
  changed: TreeSession;
};

const ID_LENGTH_MAX = 128;
const WHY_LENGTH_MAX = 2_000;

export class SessionTree {
  readonly events = new TypedEvents<SessionTreeEvents>();
  readonly #clock: Clock;
  readonly #journal: SharedJournal<JsonObject>;
  #sessions = new Map<string, TreeSession>();

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
          return (
            (await followFrom(journal, JOURNAL_START, ({ record }) => this.#put(record))) ?? JOURNAL_START
          );
        },
        apply: ({ record }) => {
          const session = this.#put(record);
          if (session) this.events.emit('changed', session);
        },
      },
      ...(options.waitMs === undefined ? {} : { waitMs: options.waitMs }),
    });
  }

  /**
   * Durable when it resolves.
   * @throws SESSION_NOT_FOUND for a parent that is not there, SESSION_EXISTS, INVALID_NAME for a root, SESSION_STATE below a parent that ended, INVALID_ARGUMENT
   */
  async create(options: NewTreeSession = {}): Promise<TreeSession> {
    const { parent = null, agent = null, status = 'pending' } = options;
    const id = options.id ?? newId('session', this.#clock.nowMs());
    assertId('id', id);
    if (parent !== null) assertId('parent', parent);
    if (agent !== null) assertId('agent', agent);
    assertStatus(status);
    if (parent === null) encodeNameSegment(id); // the state of a root has a place of its own
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

  /** The same status again changes nothing. @throws SESSION_NOT_FOUND, SESSION_STATE with what is possible */
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
        throw wrongState(session, `it cannot become ${status}`);
      return { ...session, status, why, updatedAt: new Date(this.#clock.nowMs()).toISOString() };
    });
  }

  async get(id: string): Promise<TreeSession | null> {
    await this.#journal.refresh();
    return this.#sessions.get(id) ?? null;
  }

  /** @throws SESSION_NOT_FOUND */
  async require(id: string): Promise<TreeSession> {
    await this.#journal.refresh();
    return this.#required(id);
  }

  /** Never another than the first time: a session that is known is not looked up again. @throws SESSION_NOT_FOUND */
  async rootOf(id: string): Promise<string> {
    return (this.#sessions.get(id) ?? (await this.require(id))).root;
  }

  /** Oldest first. */
  async list(query: SessionQuery = {}): Promise<TreeSession[]> {
    await this.#journal.refresh();
    return [...this.#sessions.values()].filter(
      ({ root, parent, status }) =>
        (query.root === undefined || root === query.root) &&
        (query.parent === undefined || parent === query.parent) &&
        (query.status === undefined || status === query.status),
    );
  }

  /** Sessions that have not ended, below one that has, or below one that is missing. */
  async orphans(): Promise<OrphanSession[]> {
    await this.#journal.refresh();
    const orphans: OrphanSession[] = [];
    for (const session of this.#sessions.values()) {
      const broken = hasEnded(session.status) ? null : this.#brokenAbove(session);
      if (broken) orphans.push({ session, ...broken });
    }
    return orphans;
  }

  /** The nearest one above that is no support. A line that leads back to itself, as only a damaged journal has it, has one missing. */
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

  /** From now on changes by other processes are noticed by themselves; `events` tells. The returned function ends it. */
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
    const session = decodeSession(record);
    if (session) this.#sessions.set(session.id, Object.freeze(session)); // it is given away as it is
    return session;
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
