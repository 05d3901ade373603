/** Converts objects to the JSON that clients get, with the names of the shared-state design. */
import type { CheckpointMetadata, SessionInfo } from '../../checkpoints/checkpoint-metadata.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import type { AgentSummary } from '../../memory/maintenance/agent-summary.js';
import type { TreeSession } from '../../state/shared/sessions/session-record.js';
import type { BatchResult } from '../../state/shared/shared-commit.js';
import type { StateKey } from '../../state/shared/shared-state.js';
import type { StateChange } from '../../state/shared/shared-table.js';

export function keyToWire(entry: StateKey): JsonObject {
  const { key, value, version, createdAt, updatedAt, updatedBy, globalVersion } = entry;
  return {
    key,
    value,
    version,
    created_at: createdAt,
    updated_at: updatedAt,
    updated_by: updatedBy,
    global_version: globalVersion,
  };
}

/** An event of the WebSocket, of the route `events`, and of a key's history. */
export function changeToWire(root: string, change: StateChange): JsonObject {
  const { key, value, version, op, globalVersion, lastOfCommit, history, by, at } = change;
  const isThere = value !== undefined;
  return {
    type: isThere ? 'state_key_updated' : 'state_key_deleted',
    root_session_id: root,
    key,
    ...(isThere ? { value } : {}),
    version,
    op,
    global_version: globalVersion,
    last_of_commit: lastOfCommit,
    history,
    [isThere ? 'updated_by' : 'deleted_by']: by,
    timestamp: at,
  };
}

export function batchToWire({ applied, globalVersion, results }: BatchResult): JsonObject {
  return {
    applied,
    global_version: globalVersion,
    results: results.map(({ key, status, version, value }) => ({
      key,
      status,
      version: version === 0 ? null : version,
      ...(status === 'conflict' && value !== undefined ? { value } : {}),
    })),
  };
}

export function sessionToWire(session: TreeSession): JsonObject {
  const { id, parent, root, agent, status, why, createdAt, updatedAt } = session;
  return { id, parent, root, agent, status, why, created_at: createdAt, updated_at: updatedAt };
}

export function agentToWire({
  agentId,
  status,
  messages,
  epochId,
  snapshot,
  traces,
  lastTraceTs,
}: AgentSummary) {
  return {
    agent_id: agentId,
    status,
    messages,
    epoch: epochId,
    snapshot,
    traces,
    last_trace_at: lastTraceTs === null ? null : new Date(lastTraceTs * 1000).toISOString(),
  };
}

export function checkpointToWire(checkpoint: CheckpointMetadata): JsonObject {
  const { id, sessionId, number, name, agentId, workflowId, createdAt, tags, status, critical, kind } =
    checkpoint;
  return {
    id,
    session_id: sessionId,
    number,
    name,
    agent_id: agentId,
    workflow_id: workflowId,
    created_at: createdAt,
    tags: [...tags],
    context_size_bytes: checkpoint.contextSizeBytes,
    context_hash: checkpoint.contextHash,
    stored_bytes: checkpoint.storedBytes,
    compression: checkpoint.compression,
    encrypted: checkpoint.encrypted,
    status,
    critical,
    kind,
    left_out_keys: [...checkpoint.leftOutKeys],
    classification_summary: checkpoint.classificationSummary as JsonValue,
  };
}

export function checkpointSessionToWire(info: SessionInfo): JsonObject {
  const { id, createdAt, lastAccessedAt, workflowId, tags, totalSizeBytes, checkpoints, encrypted } = info;
  return {
    id,
    created_at: createdAt,
    last_accessed_at: lastAccessedAt,
    workflow_id: workflowId,
    tags: [...tags],
    total_size_bytes: totalSizeBytes,
    context_size_bytes: info.contextSizeBytes,
    checkpoints,
    encrypted,
    critical_keys: [...info.criticalKeys],
  };
}
