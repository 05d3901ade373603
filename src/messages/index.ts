/**
 * Messages without storage: validity, repair, requests for each provider, and transcripts of other tools. Runs in browsers.
 *
 * @module rekindle/messages
 */
export { EXPORTERS } from './exporters/exporters.js';
export type { ExportOptions, TranscriptExporter } from './exporters/transcript-exporter.js';
export { fromAiSdkMessages } from './importers/ai-sdk/ai-sdk.js';
export type { EntryFormat } from './importers/entries/entry-format.js';
export { IMPORTERS } from './importers/importers.js';
export { LossAccount, type LossItem, type LossReport } from './importers/loss-account.js';
export {
  type ReadMessages,
  type ReadMessagesOptions,
  readMessages,
} from './importers/read-messages.js';
export { contextOf, type OpenTranscript, openTranscript } from './importers/read-transcript.js';
export { registerTranscriptFormat } from './importers/registered-formats.js';
export { folderOf, sourceOf } from './importers/source.js';
export type {
  TranscriptHead,
  TranscriptImporter,
  TranscriptItem,
  TranscriptSource,
} from './importers/transcript.js';
export { checkHistory, repairHistory } from './legality/history.js';
export {
  type HistoryFacts,
  type Repair,
  type RepairCode,
  type RepairedHistory,
  RULE_IDS,
  type RuleId,
  type Violation,
} from './legality/repairs.js';
export {
  type ContentPart,
  hasMedia,
  isBlankMessage,
  MESSAGE_ROLES,
  type Media,
  type MediaPart,
  type Message,
  type MessageRole,
  type Origin,
  type ProviderItem,
  type ReasoningItem,
  type ReasoningPart,
  type TextPart,
  type ToolCallPayload,
  type ToolCallSpec,
  type ToolResultPayload,
  textOf,
  toolCallsOf,
  toolResultOf,
} from './message.js';
export { messageFromJson, messageToJson } from './message-serializer.js';
export type { AiSdkMessage, AiSdkRequest } from './projections/ai-sdk.js';
export type { AnthropicRequest } from './projections/anthropic.js';
export type { RequestViolation } from './projections/checks/request-check.js';
export {
  changedSince,
  fingerprintOf,
  type RequestChange,
  type RequestFingerprint,
} from './projections/fingerprint.js';
export type { GeminiRequest } from './projections/gemini.js';
export type { OpenAiChatRequest } from './projections/openai-chat.js';
export type { OpenAiResponsesRequest } from './projections/openai-responses.js';
export { checkRequest, project, type RequestOf } from './projections/project.js';
export type { NoteCode, Projection, ProjectionNote, ProjectionTarget } from './projections/projection.js';
export type { TargetLimits } from './projections/target-limits.js';
export { TARGETS, type TargetName } from './projections/targets.js';
