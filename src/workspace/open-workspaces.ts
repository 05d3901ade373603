/** The workspaces of a store, each opened once, with what belongs to all of them: the tool-call log, the sessions and the plans. */
import { RekindleError } from '../core/errors.js';
import type { StorageBackend } from '../storage/ports.js';
import { Plans } from './plans.js';
import { SessionManager } from './sessions/session-manager.js';
import { ToolCallLog } from './tool-calls/tool-call-log.js';
import { Workspace } from './workspace.js';
import type { WorkspaceScope } from './workspace-scope.js';

const FOLDER = ['workspace'];

export class OpenWorkspaces {
  readonly log: ToolCallLog;
  readonly sessions: SessionManager;
  readonly plans: Plans;
  readonly #backend: StorageBackend;
  readonly #opened = new Map<string, Workspace>();

  /** Reads nothing yet. */
  constructor(backend: StorageBackend) {
    this.#backend = backend;
    this.log = new ToolCallLog(backend);
    this.sessions = new SessionManager(backend);
    this.plans = new Plans(backend, FOLDER);
  }

  of(scope: WorkspaceScope): Workspace {
    const name = JSON.stringify(scope);
    const workspace = this.#opened.get(name) ?? new Workspace(this.#backend, { scope });
    this.#opened.set(name, workspace);
    return workspace;
  }

  /** That of the store, then those of root sessions and of agents, sorted. */
  async ids(): Promise<string[]> {
    const [roots, agents] = await Promise.all([this.#names('roots'), this.#names('agents')]);
    return ['store', ...roots.map((name) => `root:${name}`), ...agents.map((name) => `agent:${name}`)];
  }

  /** @param id as `ids` gives it @throws ENTRY_NOT_FOUND */
  async byId(id: string): Promise<Workspace> {
    const [kind, owner] = [id.slice(0, id.indexOf(':')), id.slice(id.indexOf(':') + 1)];
    if (id === 'store') return this.of('store');
    if (kind === 'root' && (await this.#names('roots')).includes(owner)) return this.of({ root: owner });
    if (kind === 'agent' && (await this.#names('agents')).includes(owner)) return this.of({ agent: owner });
    throw new RekindleError('ENTRY_NOT_FOUND', `There is no workspace ${JSON.stringify(id)}.`, {
      details: { workspace: id },
    });
  }

  #names(kind: 'roots' | 'agents'): Promise<string[]> {
    return this.#backend.listNames([...FOLDER, kind]);
  }

  /** Tries to close all of them. @throws the first error */
  async close(): Promise<void> {
    const all = [...this.#opened.values(), this.log, this.sessions, this.plans];
    const ended = await Promise.allSettled(all.map((one) => one.close()));
    const failed = ended.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}
