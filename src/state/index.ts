/**
 * Durable JSON documents with a schema and a history, and state that several processes share.
 *
 * @module rekindle/state
 */
export type {
  ChangeOptions,
  CommitOptions,
  PatchOptions,
  StateUpdate,
  UpdateContext,
} from './durable/change-options.js';
export { agentState } from './durable/documents/agent-state.js';
export { taskBoard } from './durable/documents/task-board.js';
export type { EditProblem } from './durable/edit-verdict.js';
export type { MergeConflict } from './durable/merge-edit.js';
export {
  definitionOf,
  documentNames,
  type MigrateOptions,
  type MigrationResult,
  migrateDocuments,
} from './durable/migrate-documents.js';
export {
  defineState,
  type Migration,
  type StateDefinition,
  type StateOf,
  type StateSchema,
} from './durable/state-definition.js';
export type { EditMerge, RefusedEdit, StateTask } from './durable/state-document.js';
export type { StateEvent, StateEventKind } from './durable/state-event.js';
export { StateManager, type StateManagerEvents, type StateOptions } from './durable/state-manager.js';
export type { StateInspection, StateSnapshot } from './durable/state-snapshot.js';
export type { MountedState, StateDocuments } from './durable/tools/mounted-state.js';
export { type StateTextOptions, stateText } from './durable/tools/state-text.js';
export { type StateToolOptions, stateTools } from './durable/tools/state-tools.js';
export type { ChangeQuery, KeyHistory } from './shared/change-search.js';
export type { KeyOperation } from './shared/key-change.js';
export type { StateOperation, VersionCondition } from './shared/key-decision.js';
export {
  ROOT_VARIABLE,
  SESSION_HEADER,
  SESSION_VARIABLE,
  sessionEnvironment,
  sessionFromEnvironment,
} from './shared/sessions/session-environment.js';
export { SESSION_STATUSES, type SessionStatus, type TreeSession } from './shared/sessions/session-record.js';
export {
  type NewTreeSession,
  type OrphanSession,
  type SessionQuery,
  SessionTree,
  type SessionTreeOptions,
} from './shared/sessions/session-tree.js';
export type { BatchResult, OperationResult } from './shared/shared-commit.js';
export { SHARED_LIMITS, type SharedLimits } from './shared/shared-limits.js';
export { SharedSessions, type SharedSessionsOptions } from './shared/shared-sessions.js';
export {
  type ChangeKeyOptions,
  recoverSharedState,
  SharedState,
  type SharedStateEvents,
  type SharedStateOptions,
  type StateKey,
  type StateView,
} from './shared/shared-state.js';
export type { StateSummary, SummaryOptions } from './shared/shared-summary.js';
export type { StateChange } from './shared/shared-table.js';
export { type SharedStateToolOptions, sharedStateTools } from './shared/tools/shared-state-tools.js';
