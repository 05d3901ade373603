/**
 * Saved contexts: list, compare, classify, encrypt, and prune them.
 *
 * @module rekindle/checkpoints
 */

export { EnvironmentKeys } from '../storage/sealing/environment-keys.js';
export { KeyFile } from '../storage/sealing/key-file.js';
export { Keychain } from '../storage/sealing/keychain.js';
export { type MasterKey, type MasterKeys, masterKeyOf } from '../storage/sealing/master-keys.js';
export { type SecretPlace, StoredKeys } from '../storage/sealing/stored-keys.js';
export { checkpointId, parseCheckpointId } from './checkpoint-id.js';
export type { CheckpointMetadata, SessionInfo } from './checkpoint-metadata.js';
export { checkpointMetrics } from './checkpoint-metrics.js';
export type {
  CheckpointServiceOptions,
  LoadedCheckpoint,
  LoadParams,
  MarkParams,
  SaveResult,
} from './checkpoint-params.js';
export type { ListQuery, Page } from './checkpoint-query.js';
export { CheckpointService } from './checkpoint-service.js';
export { byLayer, type ClassifiedContext, classify, type KeyVerdict } from './classify/classify.js';
export { type ContextView, type ShownKey, viewContext } from './classify/context-view.js';
export {
  type ClassificationRule,
  type ClassificationRules,
  type ContextLayer,
  compileRules,
  DEFAULT_BUDGETS,
  DEFAULT_RULES,
} from './classify/rules.js';
export type { CheckpointConfig, CheckpointConfigInit } from './config/checkpoint-config.js';
export { dataFolder } from './config/data-folder.js';
export type { PrunedCheckpoint, PruneOptions, PruneReason, PruneReport } from './maintenance/prune.js';
export type { SessionRepair } from './maintenance/repair-session.js';
export type { RotateOptions, RotationReport } from './maintenance/rotate-keys.js';
export type { CheckpointStats } from './maintenance/stats.js';
export type { VerifyOptions, VerifyProblem, VerifyReport } from './maintenance/verify.js';
export type { CheckpointOperation, OperationKind } from './operation-times.js';
export type { SaveParams } from './save-params.js';
export type { CheckpointStatus } from './session/checkpoint-record.js';
export type { SessionHead } from './session/session-log.js';
export type { SessionProblem } from './session/session-pool.js';
export type { CheckpointScope } from './tools/checkpoint-scope.js';
export { type CheckpointToolOptions, checkpointTools } from './tools/checkpoint-tools.js';
