/** The public names, listed one by one. More are in the subpaths: `/memory`, `/messages`, `/agent`, `/storage`, `/testing`. */
export {
  Agent,
  type AgentConfig,
  type AgentEvent,
  type AgentEvents,
  AgentFactory,
  type AgentStatus,
  type Approve,
  createAgent,
  type LanguageModel,
  OfflineModel,
  openAgent,
  openWorkingContext,
  restoreAgent,
  ScriptedModel,
  type TurnResult,
  WorkingContext,
  type WorkingContextOptions,
} from './agent/index.js';
export { type ErrorCode, isRekindleError, RekindleError } from './core/errors.js';
export type { JsonObject, JsonValue } from './core/json.js';
export { type JsonChange, type JsonConversion, toJsonValue } from './core/to-json-value.js';
export type { ToolContext, ToolDefinition } from './core/tool-definition.js';
export type { RestoreReport } from './memory/restore/restore-report.js';
export type { Message } from './messages/message.js';
export { FileStorage, MemoryStorage, type StorageBackend } from './storage/index.js';
