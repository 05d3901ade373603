/**
 * The tools that other agents reach through MCP. Which session and which agent they are for is said by whoever starts the process
 * or sends the header, never by the model: no tool takes a root, a session or an agent.
 */
import { McpServer } from '@modelcontextprotocol/server';
import { RekindleError } from '../../core/errors.js';
import type { ToolDefinition } from '../../core/tool-definition.js';
import { agentExists } from '../../memory/open-memory.js';
import { memoryTools } from '../../memory/tools/memory-tools.js';
import type { SharedSessions } from '../../state/shared/shared-sessions.js';
import { sharedStateTools } from '../../state/shared/tools/shared-state-tools.js';
import type { StorageBackend } from '../../storage/ports.js';
import { ToolCallLog } from '../../workspace/tool-calls/tool-call-log.js';
import { workspaceTools } from '../../workspace/tools/workspace-tools.js';
import { Workspace } from '../../workspace/workspace.js';
import { registerTool } from './mcp-tools.js';

/** For whom the tools are. */
export interface McpCaller {
  /** Null: no tools of the shared state. */
  readonly session: string | null;
  /** Whose memory may be looked at. Null: that of the session's agent, if it has one. */
  readonly agent: string | null;
}

const INSTRUCTIONS =
  'State that you share with other agents (state_*), the workspace (*_workspace*), and your own memory (memory_*). Others write at the same time: prefer state_increment and state_append, and give the version that you read to state_set.';

/** What the tools work on: opened once, used by every connection. */
export class McpTools {
  readonly #backend: StorageBackend;
  readonly #shared: SharedSessions;
  readonly #version: string;
  readonly #workspace: Workspace;
  readonly #log: ToolCallLog;

  constructor(backend: StorageBackend, shared: SharedSessions, version: string) {
    this.#backend = backend;
    this.#shared = shared;
    this.#version = version;
    this.#workspace = new Workspace(backend);
    this.#log = new ToolCallLog(backend);
  }

  /** A server for one connection, or one request. @throws SESSION_NOT_FOUND, AGENT_NOT_FOUND */
  async serverFor(caller: McpCaller): Promise<McpServer> {
    const server = new McpServer(
      { name: 'rekindle', version: this.#version },
      { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
    );
    for (const tool of await this.#toolsFor(caller)) registerTool(server, tool);
    return server;
  }

  async #toolsFor({ session, agent }: McpCaller): Promise<ToolDefinition[]> {
    const known = session === null ? null : await this.#shared.tree.require(session);
    const agentId = agent ?? (await this.#agentOf(known?.agent ?? null));
    if (agent !== null && !(await agentExists(this.#backend, agent)))
      throw new RekindleError('AGENT_NOT_FOUND', `There is no agent ${JSON.stringify(agent)} here.`, {
        details: { agentId: agent },
      });
    const name = agentId ?? known?.agent ?? session ?? 'mcp';
    return [
      ...(known ? sharedStateTools({ state: await this.#shared.stateOf(known.id), session: known.id }) : []),
      ...workspaceTools({ workspace: this.#workspace, agent: name, log: this.#log }),
      ...(agentId === null ? [] : memoryTools({ backend: this.#backend, agentId })),
    ];
  }

  /** A session may name an agent that has no memory here. */
  async #agentOf(name: string | null): Promise<string | null> {
    if (name === null) return null;
    return (await agentExists(this.#backend, name)) ? name : null;
  }

  async close(): Promise<void> {
    await this.#workspace.close();
    await this.#log.close();
  }
}
