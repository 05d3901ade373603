/**
 * The tools that other agents use through MCP. Session and agent are set by the process's environment or a
 * header, never by the model.
 */
import { McpServer } from '@modelcontextprotocol/server';
import type { CheckpointService } from '../../checkpoints/checkpoint-service.js';
import type { ToolDefinition } from '../../core/tool-definition.js';
import { agentExists, agentNotFound, assertAgentExists } from '../../memory/open-memory.js';
import type { StateDocuments } from '../../state/durable/tools/mounted-state.js';
import { sessionNotFound } from '../../state/shared/sessions/session-tree.js';
import type { SharedSessions } from '../../state/shared/shared-sessions.js';
import type { StorageBackend } from '../../storage/ports.js';
import { OpenWorkspaces } from '../../workspace/open-workspaces.js';
import { AuditTrail } from '../access/audit-trail.js';
import { callLogging } from './call-logging.js';
import { type McpPrincipal, type McpReach, mountedTools } from './mcp-mounts.js';
import { ToolRegistry } from './mcp-tools.js';

/** The session and agent that the tools are for. */
export interface McpCaller {
  /** Null: no tools for the shared state. */
  readonly session: string | null;
  /** The agent whose memory is readable. Null: the session's agent, if it has one. */
  readonly agent: string | null;
  /** Default `own`. */
  readonly reach?: McpReach;
  /** Whether the caller may access an agent. Default: any. */
  readonly mayAgent?: (agentId: string) => boolean;
  /** Whether the caller may access a root session. Default: any. */
  readonly mayRoot?: (root: string) => boolean;
  /** Default true. */
  readonly mayWrite?: boolean;
  /** Whether the caller may use the mounted durable documents. Default true. */
  readonly mayDocuments?: boolean;
  /** Who calls, for the audit log. Default: `unknown`. */
  readonly actor?: string;
}

const ABOUT = {
  state:
    'state_*: small facts, counters and lists that you and other agents of this run change at the same time. Prefer state_increment and state_append; give state_set the version that state_get gave. state_patch changes several keys at once.',
  documents:
    'read_state and update_state: documents with a schema that people read and edit, too, such as a task board. Read one before you change it.',
  workspace: '*_workspace*: larger results that agents hand on to each other, with their versions.',
  checkpoints:
    'workflow_*: the context of your workflow, to save and to go back to. Keep the session id that the first save gives.',
  memory:
    'memory_* and restore_report: your own past. remember, forget and pin: facts that you keep beyond a conversation.',
};

export interface McpToolsOptions {
  readonly backend: StorageBackend;
  readonly shared: SharedSessions;
  readonly checkpoints: CheckpointService;
  /** Version of the package. */
  readonly version: string;
  /** Open durable documents that become tools, by name. Their owner closes them. Default: none. */
  readonly documents?: StateDocuments;
  /** Records each call of a tool before it runs. Default: none is recorded. */
  readonly audit?: AuditTrail;
  /** Its owner closes it. Default: one of its own. */
  readonly workspaces?: OpenWorkspaces;
  /** Called if a call cannot be written to the tool-call log. The call does not fail. */
  readonly onLogFailed?: (message: string) => void;
}

/** The resources of the tools: opened once, used by every connection. */
export class McpTools {
  readonly #backend: StorageBackend;
  readonly #shared: SharedSessions;
  readonly #checkpoints: CheckpointService;
  readonly #version: string;
  readonly #documents: StateDocuments;
  readonly #audit: AuditTrail;
  readonly #workspaces: OpenWorkspaces;
  readonly #ownsWorkspaces: boolean;
  readonly #onLogFailed: (message: string) => void;
  readonly #registry = new ToolRegistry();

  constructor({
    backend,
    shared,
    checkpoints,
    version,
    documents = {},
    audit = new AuditTrail(null),
    workspaces,
    onLogFailed = () => {},
  }: McpToolsOptions) {
    this.#backend = backend;
    this.#shared = shared;
    this.#checkpoints = checkpoints;
    this.#version = version;
    this.#documents = documents;
    this.#audit = audit;
    this.#workspaces = workspaces ?? new OpenWorkspaces(backend);
    this.#ownsWorkspaces = workspaces === undefined;
    this.#onLogFailed = onLogFailed;
  }

  /** A server for one connection or request. @param signal cancels its tools */
  async serverFor(principal: McpPrincipal, signal?: AbortSignal): Promise<McpServer> {
    const { session, agentId } = principal;
    const documents = principal.mayDocuments ? this.#documents : {};
    const instructions = [
      session && ABOUT.state,
      Object.keys(documents).length > 0 && ABOUT.documents,
      ABOUT.workspace,
      ABOUT.checkpoints,
      agentId && ABOUT.memory,
    ];
    const server = new McpServer(
      { name: 'rekindle', version: this.#version },
      {
        capabilities: { tools: { listChanged: false } },
        instructions: instructions.filter(Boolean).join('\n'),
      },
    );
    const { log } = this.#workspaces;
    const mounted = await mountedTools(principal, {
      backend: this.#backend,
      shared: this.#shared,
      checkpoints: this.#checkpoints,
      log,
      documents,
      workspaceOf: (scope) => this.#workspaces.of(scope),
    });
    const logOf = callLogging(principal, { log, mounted, onFailed: this.#onLogFailed });
    for (const tool of mounted.tools)
      this.#registry.register(server, this.#audited(tool, principal), logOf(tool.name), signal);
    return server;
  }

  /** The arguments of a call are not recorded: they may contain texts. */
  #audited(tool: ToolDefinition, { actor, agentId, session }: McpPrincipal): ToolDefinition {
    const target = agentId === null ? (session ? `session ${session.id}` : 'store') : `agent ${agentId}`;
    const action = tool.idempotent === true ? 'read' : 'write';
    return {
      ...tool,
      execute: async (...given) => {
        await this.#audit.record({ actor, action, target, what: `mcp ${tool.name}` });
        return tool.execute(...given);
      },
    };
  }

  /** Resolves the caller. @throws SESSION_NOT_FOUND, AGENT_NOT_FOUND, INVALID_NAME */
  async known(caller: McpCaller): Promise<McpPrincipal> {
    const { session: id, agent, reach = 'own', mayWrite = true, mayDocuments = true } = caller;
    const { actor = 'unknown' } = caller;
    const { mayAgent = () => true, mayRoot = () => true } = caller;
    const session = id === null ? null : await this.#shared.tree.require(id);
    if (session && !mayRoot(session.root)) throw sessionNotFound(session.id);
    if (agent !== null && !mayAgent(agent)) throw agentNotFound(agent);
    if (agent !== null) await assertAgentExists(this.#backend, agent);
    const named = session?.agent ?? null;
    // The creator of a session chooses its agent, so this must not give access to another agent's memory.
    const own = named !== null && mayAgent(named) ? await this.#agentOf(named) : null;
    return { session, agentId: agent ?? own, reach, mayWrite, mayDocuments, actor };
  }

  /** A session may name an agent without a memory here. */
  async #agentOf(name: string | null): Promise<string | null> {
    if (name === null) return null;
    return (await agentExists(this.#backend, name)) ? name : null;
  }

  /** Resolves when no call is running. */
  idle(): Promise<void> {
    return this.#registry.idle();
  }

  /** Cancels running calls, if their tools support it. */
  stop(): void {
    this.#registry.stop();
  }

  async close(): Promise<void> {
    this.stop();
    await this.idle();
    if (this.#ownsWorkspaces) await this.#workspaces.close();
  }
}
