/**
 * The tools that other agents reach through MCP. Which session and which agent they are for is said by whoever starts the process
 * or sends the header, never by the model: no tool takes a root or an agent. The sessions of checkpoints are names of workflows that
 * callers choose: whoever reaches the server reaches all of them.
 */
import { McpServer } from '@modelcontextprotocol/server';
import type { CheckpointService } from '../../checkpoints/checkpoint-service.js';
import { checkpointTools } from '../../checkpoints/tools/checkpoint-tools.js';
import { agentExists, assertAgentExists } from '../../memory/open-memory.js';
import { memoryTools } from '../../memory/tools/memory-tools.js';
import type { TreeSession } from '../../state/shared/sessions/session-record.js';
import type { SharedSessions } from '../../state/shared/shared-sessions.js';
import { sharedStateTools } from '../../state/shared/tools/shared-state-tools.js';
import type { StorageBackend } from '../../storage/ports.js';
import { ToolCallLog } from '../../workspace/tool-calls/tool-call-log.js';
import { workspaceTools } from '../../workspace/tools/workspace-tools.js';
import { Workspace } from '../../workspace/workspace.js';
import { ToolRegistry } from './mcp-tools.js';

/** For whom the tools are. */
export interface McpCaller {
  /** Null: no tools of the shared state. */
  readonly session: string | null;
  /** Whose memory may be looked at. Null: that of the session's agent, if it has one. */
  readonly agent: string | null;
}

/** A caller whose session and agent are there. */
export interface KnownCaller {
  readonly session: TreeSession | null;
  /** Null: no tools of a memory. */
  readonly agentId: string | null;
}

const ABOUT = {
  state:
    'state_*: small facts, counters and lists that you and other agents of this run change at the same time. Prefer state_increment and state_append; give state_set the version that state_get gave.',
  workspace: '*_workspace*: larger results that agents hand on to each other, with their versions.',
  checkpoints:
    'workflow_*: the context of your workflow, to save and to go back to. Keep the session id that the first save gives.',
  memory: 'memory_* and restore_report: your own past.',
};

export interface McpToolsOptions {
  readonly backend: StorageBackend;
  readonly shared: SharedSessions;
  readonly checkpoints: CheckpointService;
  /** Of the package. */
  readonly version: string;
}

/** What the tools work on: opened once, used by every connection. */
export class McpTools {
  readonly #backend: StorageBackend;
  readonly #shared: SharedSessions;
  readonly #checkpoints: CheckpointService;
  readonly #version: string;
  readonly #workspace: Workspace;
  readonly #log: ToolCallLog;
  readonly #registry = new ToolRegistry();

  constructor({ backend, shared, checkpoints, version }: McpToolsOptions) {
    this.#backend = backend;
    this.#shared = shared;
    this.#checkpoints = checkpoints;
    this.#version = version;
    this.#workspace = new Workspace(backend);
    this.#log = new ToolCallLog(backend);
  }

  /** A server for one connection, or one request. */
  async serverFor({ session, agentId }: KnownCaller): Promise<McpServer> {
    const instructions = [
      session && ABOUT.state,
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
    const state =
      session && sharedStateTools({ state: await this.#shared.stateOf(session.id), session: session.id });
    const name = agentId ?? session?.agent ?? session?.id ?? 'mcp';
    const tools = [
      ...(state ?? []),
      ...workspaceTools({ workspace: this.#workspace, agent: name, log: this.#log }),
      ...checkpointTools(this.#checkpoints, agentId ?? session?.agent ?? null),
      ...(agentId === null ? [] : memoryTools({ backend: this.#backend, agentId })),
    ];
    for (const tool of tools) this.#registry.register(server, tool);
    return server;
  }

  /** Looks the caller up. @throws SESSION_NOT_FOUND, AGENT_NOT_FOUND, INVALID_NAME */
  async known({ session: id, agent }: McpCaller): Promise<KnownCaller> {
    const session = id === null ? null : await this.#shared.tree.require(id);
    if (agent !== null) await assertAgentExists(this.#backend, agent);
    return { session, agentId: agent ?? (await this.#agentOf(session?.agent ?? null)) };
  }

  /** A session may name an agent that has no memory here. */
  async #agentOf(name: string | null): Promise<string | null> {
    if (name === null) return null;
    return (await agentExists(this.#backend, name)) ? name : null;
  }

  /** When no call runs any more. */
  idle(): Promise<void> {
    return this.#registry.idle();
  }

  async close(): Promise<void> {
    await this.idle();
    await this.#workspace.close();
    await this.#log.close();
  }
}
