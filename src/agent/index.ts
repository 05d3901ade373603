/**
 * Agents and their parts: the turn loop, working contexts for other loops, models, checkpoints of agents, and erasure.
 *
 * @module rekindle/agent
 */

export type { StoredDecision } from '../memory/approvals/stored-decision.js';
export {
  type ApprovalVerdict,
  decideApproval,
  type WaitingApproval,
  waitingApprovals,
} from '../memory/approvals/waiting-approvals.js';
export type { ForkedFrom } from '../memory/lineage/forked-from.js';
export type { AgentMoment } from '../memory/lineage/moment.js';
export type { ApprovalDecision } from '../memory/store/tool-call-ledger.js';
export type { ErasureTarget, PartTarget } from '../storage/erasure/erasure-marker.js';
export type { ErasedPlace, ErasureAmount, ErasureReport } from '../storage/erasure/erasure-report.js';
export { Agent, type StopOptions, type TurnOptions } from './agent.js';
export type { AgentEvent, AgentEvents, AgentStatus, TurnResult } from './agent-events.js';
export type { BootstrapStep } from './bootstrap-steps/bootstrap-step.js';
export { SystemPromptStep } from './bootstrap-steps/system-prompt-step.js';
export { ToolsStep } from './bootstrap-steps/tools-step.js';
export { WorkingContextSnapshotRestoreStep } from './bootstrap-steps/working-context-snapshot-restore-step.js';
export { WorkspaceStep } from './bootstrap-steps/workspace-step.js';
export { type AgentImage, captureAgent } from './checkpoints/agent-image.js';
export { type CheckpointAgentOptions, checkpointAgent } from './checkpoints/checkpoint-agent.js';
export type { FromCheckpoint, FromCheckpointInit } from './checkpoints/from-checkpoint.js';
export type { AgentConfig, AgentStateOptions } from './context/agent-config.js';
export { AgentContext } from './context/agent-context.js';
export { AgentRuntimeState } from './context/agent-runtime-state.js';
export type { RecordedAnswer, RecordOptions, StreamedResponse } from './context/answer.js';
export type {
  ContentMessage,
  HostMessage,
  HostStep,
  PartsMessage,
  TypedItem,
} from './context/host-message.js';
export {
  type HostCallLogging,
  openWorkingContext,
  type WorkingContextOptions,
} from './context/open-working-context.js';
export { WorkingContext } from './context/working-context.js';
export { erase, resumeErasures } from './erasure/erase.js';
export type { EraseOptions } from './erasure/erase-part.js';
export {
  AgentFactory,
  createAgent,
  openAgent,
  type RestoreAgentOptions,
  restoreAgent,
} from './factory/agent-factory.js';
export { restoreSession } from './factory/restore-session.js';
export { type AgentFork, type ForkOptions, forkAgent } from './forks/fork-agent.js';
export type { EnqueueOptions } from './inputs/input-queue.js';
export type { InputMode, QueuedInput } from './inputs/input-table.js';
export { generateTextWith } from './model/generate-text.js';
export type { LanguageModel, ModelEvent, ModelRequest, TokenUsage } from './model/language-model.js';
export { OfflineModel } from './model/offline-model.js';
export type { RetryOptions } from './model/retrying-stream.js';
export {
  type ScriptedAnswer,
  type ScriptedCall,
  ScriptedModel,
  type ScriptStep,
} from './model/scripted-model.js';
export type { ApprovalRequest, Approve } from './tools/approval.js';
export type { CallLogging } from './tools/call-recorder.js';
export type { HostCall, RunToolOptions } from './tools/run-host-call.js';
