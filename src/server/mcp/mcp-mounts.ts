/**
 * Chooses the tools of a connection and their reach from its principal, which the configuration sets. No tool
 * accepts another session, agent or workspace.
 */
import type { CheckpointService } from '../../checkpoints/checkpoint-service.js';
import type { CheckpointScope } from '../../checkpoints/tools/checkpoint-scope.js';
import { type CheckpointToolOptions, checkpointTools } from '../../checkpoints/tools/checkpoint-tools.js';
import type { ToolDefinition } from '../../core/tool-definition.js';
import { factTools } from '../../memory/facts/fact-tools.js';
import { memoryTools } from '../../memory/tools/memory-tools.js';
import type { StateDocuments } from '../../state/durable/tools/mounted-state.js';
import { stateTools } from '../../state/durable/tools/state-tools.js';
import type { TreeSession } from '../../state/shared/sessions/session-record.js';
import type { SharedSessions } from '../../state/shared/shared-sessions.js';
import { sharedStateTools } from '../../state/shared/tools/shared-state-tools.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { ToolCallLog } from '../../workspace/tool-calls/tool-call-log.js';
import { type CallReach, workspaceTools } from '../../workspace/tools/workspace-tools.js';
import type { Workspace } from '../../workspace/workspace.js';
import type { WorkspaceScope } from '../../workspace/workspace-scope.js';

/** The owner of the tools, and their reach. */
export interface McpPrincipal {
  /** Null: no tools for the shared state. */
  readonly session: TreeSession | null;
  /** The agent whose memory is readable. Null: no memory tools. */
  readonly agentId: string | null;
  /**
   * `own`: workspace, checkpoints and tool calls of the root session, or else of the agent. `store`: the
   * store's common workspace, every plain checkpoint, and all tool calls.
   */
  readonly reach: McpReach;
  /** False: only read-only tools. */
  readonly mayWrite: boolean;
  /** False: no tools for durable documents. */
  readonly mayDocuments: boolean;
  /** For the audit log. */
  readonly actor: string;
}

export type McpReach = 'own' | 'store';

export interface MountServices {
  readonly backend: StorageBackend;
  readonly shared: SharedSessions;
  readonly checkpoints: CheckpointService;
  readonly log: ToolCallLog;
  /** Durable documents, which become tools. */
  readonly documents: StateDocuments;
  workspaceOf(scope: WorkspaceScope): Workspace;
}

/** The name of clients with neither a session nor an agent. They share their data. */
export const ANYBODY = 'mcp';

export interface MountedTools {
  readonly tools: readonly ToolDefinition[];
  /** Names of the tools whose data all sessions of the root share. */
  readonly ofRoot: ReadonlySet<string>;
  /** Names of the tools that read the memory, or save and load checkpoints. */
  readonly ofRecords: ReadonlySet<string>;
}

/** The tools that `config/agent_tools.json` allows. */
export async function mountedTools(principal: McpPrincipal, services: MountServices): Promise<MountedTools> {
  const { session, agentId } = principal;
  const { backend, shared, checkpoints, log, documents } = services;
  const named = agentId ?? session?.agent ?? session?.id ?? null;
  const agent = named ?? ANYBODY;
  const workspace = services.workspaceOf(workspaceScope(principal));
  const by = agentId ?? session?.agent;
  const ofRoot = [
    ...(session ? sharedStateTools({ state: await shared.stateOf(session.id), session: session.id }) : []),
    ...workspaceTools({
      workspace,
      agent,
      isCommonName: named === null,
      log,
      calls: callReach(principal, shared),
    }),
  ];
  const ofRecords = [
    ...checkpointTools(checkpoints, checkpointOptions(principal, by ?? null)),
    ...(agentId === null ? [] : memoryTools({ backend, agentId })),
  ];
  const tools = [
    ...ofRoot,
    ...documentTools(documents, agent),
    ...ofRecords,
    ...(agentId === null ? [] : factToolsOf(backend, agentId)),
  ];
  const allowed = principal.mayWrite ? tools : tools.filter(({ idempotent }) => idempotent === true);
  return {
    tools: await workspace.config.toolsFor(agent, allowed),
    ofRoot: namesOf(ofRoot),
    ofRecords: namesOf(ofRecords),
  };
}

function namesOf(tools: readonly ToolDefinition[]): ReadonlySet<string> {
  return new Set(tools.map(({ name }) => name));
}

/** A client that calls itself `human` is none. */
function documentTools(documents: StateDocuments, agent: string): ToolDefinition[] {
  if (Object.keys(documents).length === 0) return [];
  return stateTools(documents, { by: agent === 'human' ? ANYBODY : agent });
}

/** They open the agent for each call. They write, although a repeated call does no harm: only read-only tools may say so here. */
function factToolsOf(backend: StorageBackend, agentId: string): ToolDefinition[] {
  return factTools({ backend, agentId }).map((tool) => ({ ...tool, idempotent: false }));
}

function workspaceScope({ session, agentId, reach }: McpPrincipal): WorkspaceScope {
  if (reach === 'store') return 'store';
  if (session) return { root: session.root };
  return agentId === null ? 'store' : { agent: agentId };
}

/** A client that may reach every session has none of its own. */
function checkpointOptions(principal: McpPrincipal, by: string | null): CheckpointToolOptions {
  const { session, agentId, reach } = principal;
  return {
    scope: checkpointScope(principal),
    ...(reach === 'own' ? { session: session?.id ?? agentId ?? ANYBODY } : {}),
    ...(by === null ? {} : { agentId: by }),
  };
}

function checkpointScope({ session, agentId, reach }: McpPrincipal): CheckpointScope {
  if (reach === 'store') return 'all';
  if (agentId !== null) return { agent: agentId };
  return session ? { session: session.id } : { client: ANYBODY };
}

/** Hosts log calls with their session. */
function callReach({ session, reach }: McpPrincipal, { tree }: SharedSessions): CallReach {
  if (reach === 'store') return 'all';
  if (!session) return 'own';
  return { sessions: async () => (await tree.list({ root: session.root })).map(({ id }) => id) };
}
