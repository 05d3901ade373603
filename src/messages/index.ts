export { fromAiSdkMessages } from './importers/ai-sdk.js';
export { checkHistory, repairHistory } from './legality/history.js';
export type { HistoryFacts, Repair, RepairCode, RepairedHistory, Violation } from './legality/repairs.js';
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
  type TextPart,
  type ToolCallPayload,
  type ToolCallSpec,
  type ToolResultPayload,
  textOf,
  toolCallsOf,
  toolResultOf,
} from './message.js';
export { messageFromJson, messageToJson } from './message-serializer.js';
export { type AiSdkMessage, type AiSdkTarget, toAiSdkMessages } from './projections/ai-sdk.js';
