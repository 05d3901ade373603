import { type Clock, systemClock } from '../../core/clock.js';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import type { JsonValue } from '../../core/json.js';
import type { SchemaCheck } from '../../core/schema-check.js';
import { type JsonDocument, openJsonDocument } from '../../storage/json-document.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { SharedLease } from '../../storage/shared-lease.js';
import type { Workspace } from '../workspace.js';
import {
  type AgentStateDocument,
  agentFile,
  assertAgentNames,
  type CurrentSession,
  checkAgentState,
  checkCurrent,
  checkSession,
  type SessionDocument,
  storableState,
  type WorkspaceSnapshot,
} from './session.js';
import { type SessionSnapshot, SessionSnapshots } from './session-snapshots.js';

/** An agent of a session. */
export interface SessionAgent {
  /** Its name in the session, such as `trace_analyst`. */
  readonly name: string;
  /** The id to restore it with. */
  readonly agentId: string;
}

/** A session of work with its agents. */
export interface Session {
  readonly id: string;
  readonly title: string;
  readonly status: 'active' | 'ended';
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly lastActiveAt: string;
  readonly endedAt: string | null;
  /** How often it was resumed. */
  readonly resumed: number;
  readonly agents: readonly SessionAgent[];
}

/** The state that an agent saved in a session, to continue later. */
export interface AgentState {
  readonly name: string;
  readonly agentId: string;
  /** Keys of the workspace that the agent wrote. */
  readonly workspaceKeysWritten: readonly string[];
  readonly savedAt: string;
  readonly state: JsonValue;
}

/** Options of the borders of a session: `SessionManager.create`, `resume` and `end`. */
export interface SessionBorderOptions {
  /** The workspace whose current entries are noted in a snapshot. */
  readonly workspace?: Workspace;
}

/** A session to create. */
export interface NewSession extends SessionBorderOptions {
  readonly title?: string;
  readonly agents?: readonly SessionAgent[];
}

/** Filter of `SessionManager.list`; all given fields must match. */
export interface SessionFilter {
  readonly status?: 'active' | 'ended';
  /** The name or the id of an agent. */
  readonly agent?: string;
  /** Earliest last activity, in ms since 1970. */
  readonly sinceMs?: number;
  readonly limit?: number;
}

/** Sessions of work that ends and is resumed: their agents, saved states and workspace snapshots, as JSON documents. */
export class SessionManager {
  readonly #backend: StorageBackend;
  readonly #folder: Name;
  readonly #clock: Clock;
  readonly #snapshots: SessionSnapshots;
  /** One process at a time reads, changes and writes the documents of a session. */
  readonly #turns: SharedLease;

  /** @param options `folder` of the workspace, default `['workspace']`; sessions are stored in `sessions/` below it */
  constructor(backend: StorageBackend, options: { readonly folder?: Name; readonly clock?: Clock } = {}) {
    const folder = options.folder ?? ['workspace'];
    this.#backend = backend;
    this.#folder = [...folder, 'sessions'];
    this.#clock = options.clock ?? systemClock;
    this.#snapshots = new SessionSnapshots(backend, this.#folder);
    this.#turns = new SharedLease(backend.leases, [...folder, 'sessions.lease']);
  }

  /** Creates a session and makes it the current one. Durable when it resolves. @throws INVALID_NAME, INVALID_ARGUMENT */
  async create(init: NewSession = {}): Promise<Session> {
    const now = this.#now();
    const id = newId('session', this.#clock.nowMs());
    const { title = '', agents = [], workspace } = init;
    assertAgentNames(agents.map(({ name }) => name));
    return this.#turns.run(async () => {
      // The session document comes last: once it exists, the session is complete.
      await this.#snapshots.save(id, { border: 'start', resumed: 0 }, workspace, now);
      const document: SessionDocument = {
        schema_version: 1,
        session_id: id,
        title,
        status: 'active',
        started_at: now,
        last_active_at: now,
        ended_at: null,
        resumed: 0,
        agents: agents.map(({ name, agentId }) => ({ name, agent_id: agentId })),
      };
      await this.#write(this.#sessionName(id), checkSession(), document);
      await this.#setCurrent(id, now);
      return sessionFrom(document);
    });
  }

  /** Resumes a session and makes it the current one; an ended one becomes active. @throws SESSION_NOT_FOUND */
  resume(id: string, { workspace }: SessionBorderOptions = {}): Promise<Session> {
    return this.#turns.run(async () => {
      const now = this.#now();
      const session = await this.#change(id, async (document) => {
        document.resumed += 1;
        document.status = 'active';
        document.ended_at = null;
        document.last_active_at = now;
        if (workspace)
          await this.#snapshots.save(id, { border: 'resume', resumed: document.resumed }, workspace, now);
      });
      await this.#setCurrent(id, session.startedAt);
      return session;
    });
  }

  /** Ends a session. @throws SESSION_NOT_FOUND */
  end(id: string, { workspace }: SessionBorderOptions = {}): Promise<Session> {
    return this.#turns.run(async () => {
      const now = this.#now();
      const session = await this.#change(id, async (document) => {
        document.status = 'ended';
        document.ended_at = now;
        document.last_active_at = now;
        if (workspace)
          await this.#snapshots.save(id, { border: 'end', resumed: document.resumed }, workspace, now);
      });
      if ((await this.#current()).session_id === id) await this.#setCurrent(null, null);
      return session;
    });
  }

  /** The session that was created or resumed last, if it is still active; null if there is none. */
  async current(): Promise<Session | null> {
    const { session_id: id } = await this.#current();
    const session = id === null ? null : await this.get(id);
    return session?.status === 'active' ? session : null; // a crash may have come between the end and this note
  }

  /** Null if there is none. */
  async get(id: string): Promise<Session | null> {
    const { data } = await this.#open(this.#sessionName(id), checkSession(), noSession(id));
    return data.started_at === '' ? null : sessionFrom(data);
  }

  /** The matching sessions, latest activity first. */
  async list(filter: SessionFilter = {}): Promise<Session[]> {
    const sessions: Session[] = [];
    for (const id of await this.#backend.listNames(this.#folder)) {
      const session = id.startsWith('session_') ? await this.#listed(id) : null;
      if (session && isWanted(session, filter)) sessions.push(session);
    }
    sessions.sort((a, b) =>
      a.lastActiveAt === b.lastActiveAt ? (a.id < b.id ? 1 : -1) : a.lastActiveAt < b.lastActiveAt ? 1 : -1,
    );
    return sessions.slice(0, Math.max(0, filter.limit ?? sessions.length));
  }

  /** Null also for a file or a link that only looks like a session. */
  async #listed(id: string): Promise<Session | null> {
    try {
      return await this.get(id);
    } catch (thrown) {
      if (isRekindleError(thrown, 'PATH_REFUSED') || isRekindleError(thrown, 'INVALID_NAME')) return null;
      throw thrown;
    }
  }

  /** Saves an agent's state and adds it to the session. Durable when it resolves. @throws SESSION_NOT_FOUND, INVALID_NAME, INVALID_ARGUMENT */
  async saveAgentState(
    id: string,
    agent: SessionAgent & { readonly workspaceKeysWritten?: readonly string[]; readonly state?: unknown },
  ): Promise<AgentState> {
    const { name, agentId } = agent;
    assertAgentNames([name]);
    // Copy now: the agent continues to change its own object.
    const given = storableState(agent.state ?? null);
    const state = this.#backend.redactor?.json(given) ?? given;
    const keys = [...(agent.workspaceKeysWritten ?? [])];
    return this.#turns.run(async () => {
      const now = this.#now();
      await this.#change(id, (document) => {
        document.last_active_at = now;
        document.agents = document.agents.filter((known) => known.name !== name);
        document.agents.push({ name, agent_id: agentId });
      });
      const document: AgentStateDocument = {
        schema_version: 1,
        name,
        agent_id: agentId,
        workspace_keys_written: keys,
        saved_at: now,
        state,
      };
      await this.#write(this.#agentName(id, name), checkAgentState(), document);
      return agentStateFrom(document);
    });
  }

  /** Null if the session has no state with this name. */
  async agentState(id: string, name: string): Promise<AgentState | null> {
    const none: AgentStateDocument = {
      schema_version: 1,
      name,
      agent_id: '',
      workspace_keys_written: [],
      saved_at: '',
      state: null,
    };
    const { data } = await this.#open(this.#agentName(id, name), checkAgentState(), none);
    return data.saved_at === '' ? null : agentStateFrom(data);
  }

  /** Key, version, author and time of each workspace entry when the session was created. @throws SESSION_NOT_FOUND */
  async workspaceSnapshot(id: string): Promise<WorkspaceSnapshot> {
    if (!(await this.get(id))) throw sessionNotFound(id);
    return this.#snapshots.read(id, { border: 'start', resumed: 0 });
  }

  /** The snapshots at the start, the resumes and the ends of a session, in this order. @throws SESSION_NOT_FOUND */
  async workspaceSnapshots(id: string): Promise<SessionSnapshot[]> {
    const session = await this.get(id);
    if (!session) throw sessionNotFound(id);
    return this.#snapshots.all(id, session.resumed);
  }

  close(): Promise<void> {
    return this.#turns.close();
  }

  /** The session document is written last: once it says so, the border is complete. */
  async #change(id: string, change: (document: SessionDocument) => Promise<void> | void): Promise<Session> {
    const document = await this.#open(this.#sessionName(id), checkSession(), noSession(id));
    if (document.data.started_at === '') throw sessionNotFound(id);
    await change(document.data);
    await document.write();
    return sessionFrom(document.data);
  }

  async #current(): Promise<CurrentSession> {
    const none = { session_id: null, started_at: null };
    return (await this.#open<CurrentSession>(this.#currentName, checkCurrent(), none)).data;
  }

  async #setCurrent(id: string | null, startedAt: string | null): Promise<void> {
    await this.#write(this.#currentName, checkCurrent(), { session_id: id, started_at: startedAt });
  }

  #open<T extends object>(name: Name, check: SchemaCheck, initial: T): Promise<JsonDocument<T>> {
    return openJsonDocument(this.#backend.documents, { name, check, initial });
  }

  async #write<T extends object>(name: Name, check: SchemaCheck, value: T): Promise<void> {
    const document = await this.#open<T>(name, check, value);
    document.data = value;
    await document.write();
  }

  #now(): string {
    return new Date(this.#clock.nowMs()).toISOString();
  }

  #sessionName(id: string): Name {
    return [...this.#folder, id, 'session.json'];
  }

  #agentName(id: string, name: string): Name {
    return [...this.#folder, id, 'agent_states', agentFile(name)];
  }

  get #currentName(): Name {
    return [...this.#folder, 'current.json'];
  }
}

/** The placeholder for a missing session. */
function noSession(id: string): SessionDocument {
  return {
    schema_version: 1,
    session_id: id,
    title: '',
    status: 'ended',
    started_at: '',
    last_active_at: '',
    ended_at: null,
    resumed: 0,
    agents: [],
  };
}

function sessionFrom(document: SessionDocument): Session {
  return {
    id: document.session_id,
    title: document.title,
    status: document.status,
    startedAt: document.started_at,
    lastActiveAt: document.last_active_at,
    endedAt: document.ended_at,
    resumed: document.resumed,
    agents: document.agents.map(({ name, agent_id: agentId }) => ({ name, agentId })),
  };
}

function agentStateFrom(document: AgentStateDocument): AgentState {
  return {
    name: document.name,
    agentId: document.agent_id,
    workspaceKeysWritten: document.workspace_keys_written,
    savedAt: document.saved_at,
    state: document.state as JsonValue,
  };
}

function isWanted({ status, agents, lastActiveAt }: Session, filter: SessionFilter): boolean {
  if (filter.status !== undefined && filter.status !== status) return false;
  if (filter.sinceMs !== undefined && Date.parse(lastActiveAt) < filter.sinceMs) return false;
  const { agent } = filter;
  return agent === undefined || agents.some(({ name, agentId }) => name === agent || agentId === agent);
}

function sessionNotFound(id: string): RekindleError {
  return new RekindleError('SESSION_NOT_FOUND', `There is no session ${JSON.stringify(id)} here.`, {
    details: { id },
  });
}
