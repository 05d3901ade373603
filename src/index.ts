/**
 * What most programs need: agents, a working context for a loop of your own, storage, and errors.
 * The other entry points have the rest.
 *
 * @module rekindle
 */
export { Agent } from './agent/agent.js';
export type { AgentEvent, AgentEvents, AgentStatus, TurnResult } from './agent/agent-events.js';
export type { AgentConfig } from './agent/context/agent-config.js';
export { openWorkingContext, type WorkingContextOptions } from './agent/context/open-working-context.js';
export { WorkingContext } from './agent/context/working-context.js';
export { AgentFactory, createAgent, openAgent, restoreAgent } from './agent/factory/agent-factory.js';
export type { LanguageModel } from './agent/model/language-model.js';
export { OfflineModel } from './agent/model/offline-model.js';
export { ScriptedModel } from './agent/model/scripted-model.js';
export type { Approve } from './agent/tools/approval.js';
export { type ErrorCode, isRekindleError, RekindleError } from './core/errors.js';
export type { JsonObject, JsonValue } from './core/json.js';
export { type JsonChange, type JsonConversion, toJsonValue } from './core/to-json-value.js';
export type { ToolContext, ToolDefinition } from './core/tool-definition.js';
export type { RestoreReport } from './memory/restore/restore-report.js';
export type { Message } from './messages/message.js';
export { FileStorage } from './storage/file/file-storage.js';
export { MemoryStorage } from './storage/memory/memory-storage.js';
export type { StorageBackend } from './storage/ports.js';
