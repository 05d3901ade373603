/**
 * Versioned entries that agents hand to each other, a log of tool calls, and sessions.
 *
 * @module rekindle/workspace
 */
export { WorkspaceConfig } from './config/workspace-config.js';
export type {
  ContextBudget,
  ContextDependencies,
  ContextKey,
  ContextRequest,
  ContextStatus,
  SelectiveContext,
} from './context/context-request.js';
export { selectContext } from './context/selective-context.js';
export type { EntrySchemas, WriteNote } from './entries/entry-check.js';
export type { AgentTiming, EntryInfo } from './entries/entry-index.js';
export type { TimingMetrics } from './entries/timing.js';
export { Plans } from './plans.js';
export type { WorkspaceSnapshot } from './sessions/session.js';
export {
  type AgentState,
  type NewSession,
  type Session,
  type SessionAgent,
  type SessionBorderOptions,
  type SessionFilter,
  SessionManager,
} from './sessions/session-manager.js';
export type { SessionBorder, SessionSnapshot } from './sessions/session-snapshots.js';
export {
  type PruneOptions,
  type PruneReport,
  ToolCallLog,
  type ToolCallLogOptions,
  type ToolCallQuery,
} from './tool-calls/tool-call-log.js';
export type { ToolCallEntry, ToolCallRecord } from './tool-calls/tool-call-record.js';
export { type CallReach, type WorkspaceToolOptions, workspaceTools } from './tools/workspace-tools.js';
export {
  type Entry,
  type EntryVersion,
  Workspace,
  type WorkspaceEvents,
  type WorkspaceOptions,
  type WriteOptions,
  type WriteResult,
} from './workspace.js';
export type { WorkspaceScope } from './workspace-scope.js';
