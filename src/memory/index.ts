/**
 * The memory below an agent: traces, restore, compaction, recall, facts, and the tool-call ledger.
 *
 * @module rekindle/memory
 */
export { CompactionPolicy, type CompactionPolicyOptions } from './compaction/compaction-policy.js';
export { CompactionSnapshotBuilder } from './compaction/compaction-snapshot-builder.js';
export { type CompactionPlan, Compactor, type CompactorOptions } from './compaction/compactor.js';
export { ExtractiveSummarizer } from './compaction/extractive-summarizer.js';
export { type GenerateText, ModelSummarizer } from './compaction/model-summarizer.js';
export type {
  CompactionResult,
  SemanticFact,
  Summarizer,
  SummarizerOptions,
} from './compaction/summarizer.js';
export { O200kTokenCounter, type TokenCounter } from './compaction/token-counter.js';
export type { Fact } from './facts/fact.js';
export { FACT_SOURCES, type FactSource } from './facts/fact-source.js';
export { type FactToolOptions, factTools, type StoredFactToolOptions } from './facts/fact-tools.js';
export { type FactKeeper, Facts, type RememberOptions } from './facts/facts.js';
export {
  type FactOwner,
  listFacts,
  listSources,
  planPurge,
  purgeSource,
  type SourceCount,
  type SourcePurge,
} from './facts/purge-source.js';
export type { FitReport, FitRequest, Rung } from './fit/context-fitter.js';
export type { RequestParts } from './fit/request-parts.js';
export { type ImportOptions, type ImportReport, importTranscript } from './importing/import-transcript.js';
export {
  type AgentHistory,
  agentHistory,
  type HistoryOptions,
  type TurnSummary,
} from './lineage/agent-history.js';
export type { ForkedFrom } from './lineage/forked-from.js';
export type { AgentMoment } from './lineage/moment.js';
export { type AgentSummary, listAgents, summarizeAgent } from './maintenance/agent-summary.js';
export { type AgentCopy, copyAgent } from './maintenance/copy-agent.js';
export { type RepairReport, rebuildAgent, repairAgent } from './maintenance/repair-agent.js';
export { type VerifyReport, verifyAgent } from './maintenance/verify-agent.js';
export type { MemoryEvents } from './memory-events.js';
export type { AssistantResponse, MediaInput, ToolResultInput, UserInput } from './memory-input.js';
export { MemoryManager, type MemoryManagerOptions } from './memory-manager.js';
export type { EpisodicItem, FactTrace, MemoryBundle, SemanticItem } from './models/memory-items.js';
export type { Boundary, Trace } from './models/trace.js';
export { traceFromJson, traceToJson } from './models/trace-serializer.js';
export { agentExists, type MemoryOptions, type OpenMemory, openMemory } from './open-memory.js';
export type { Embedder, EmbedderOptions } from './recall/embedder.js';
export type { Passage, Speaker } from './recall/passage.js';
export type { RecallHit } from './recall/recall-index.js';
export type { RecalledPassage, RecallReport } from './recall/recall-report.js';
export type { RecallOptions } from './recall/recaller.js';
export {
  type PastPage,
  type PastQuery,
  readAround,
  readTurns,
  searchAgent,
} from './recall/search-agent.js';
export type {
  CacheRefusal,
  CutOffAnswer,
  DamageReport,
  InterruptedCall,
  RestoreReport,
  RestoreSource,
} from './restore/restore-report.js';
export {
  WorkingContextSnapshotBootstrapOptions,
  type WorkingContextSnapshotBootstrapOptionsInit,
  WorkingContextSnapshotBootstrapper,
} from './restore/working-context-snapshot-bootstrapper.js';
export { type MemoryRetriever, Retriever } from './retrieval/retriever.js';
export type { AnswerPart, AnswerParts, PartWriter } from './store/answer-parts.js';
export { MemoryStore } from './store/memory-store.js';
export {
  CallLedger,
  type LedgerOptions,
  type LedgerRunOptions,
  openToolCallLedger,
} from './store/open-tool-call-ledger.js';
export {
  type AnswerReading,
  type AnswerState,
  type ReadAnswerOptions,
  readAnswer,
  type StoredPart,
} from './store/read-answer.js';
export {
  type CallVerdict,
  type LedgerCall,
  type LedgerOutcome,
  ToolCallLedger,
} from './store/tool-call-ledger.js';
export { WorkingContextSnapshotStore } from './store/working-context-snapshot-store.js';
export { lookBackTools, type MemoryToolOptions, memoryTools } from './tools/memory-tools.js';
export { type ReadResultOptions, readResultTool } from './tools/read-result.js';
export { type Frontier, type FrontierKind, messagesOfTraces } from './working-context-reducer.js';
export { WorkingContextSnapshot } from './working-context-snapshot.js';
export {
  type SnapshotMetadata,
  type SnapshotMetadataInit,
  WorkingContextSnapshotSerializer,
} from './working-context-snapshot-serializer.js';
