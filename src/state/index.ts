export { agentState } from './durable/documents/agent-state.js';
export { taskBoard } from './durable/documents/task-board.js';
export type { EditProblem } from './durable/edit-verdict.js';
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
export type { RefusedEdit, StateTask } from './durable/state-document.js';
export type { StateEvent, StateEventKind } from './durable/state-event.js';
export {
  type ChangeOptions,
  type StateInspection,
  StateManager,
  type StateManagerEvents,
  type StateOptions,
  type StateSnapshot,
  type StateUpdate,
  type UpdateContext,
} from './durable/state-manager.js';
