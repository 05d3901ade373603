/** Begins a new agent from a checkpoint of another, or of its own past: a branch. The agent that was saved is not touched. */
import { CheckpointService } from '../../checkpoints/checkpoint-service.js';
import { RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import {
  type EpisodicItem,
  episodicFromJson,
  type SemanticItem,
  semanticFromJson,
} from '../../memory/models/memory-items.js';
import { SNAPSHOT_FILE } from '../../memory/store/working-context-snapshot-store.js';
import { messageFromJson } from '../../messages/message-serializer.js';
import { beginDocuments } from '../../state/durable/copy-documents.js';
import type { StorageBackend } from '../../storage/ports.js';
import { type AgentImage, asAgentImage, ownStateFolder } from './agent-image.js';

export interface FromCheckpoint {
  readonly checkpointId: string;
  /** Where it is. Default: a service over the storage of the agent. */
  readonly service?: CheckpointService;
}

/** The agent in a checkpoint. @throws CHECKPOINT_NOT_FOUND, INVALID_ARGUMENT for one that holds no agent, and as `CheckpointService.load` */
export async function loadAgentImage(
  storage: StorageBackend,
  { checkpointId, service }: FromCheckpoint,
): Promise<AgentImage> {
  const checkpoints = service ?? new CheckpointService({ backend: storage });
  try {
    const { context } = await checkpoints.load({ checkpointId });
    return asAgentImage(context, checkpointId);
  } finally {
    if (!service) await checkpoints.close();
  }
}

/** True when a branch into this agent was begun and not finished: a crash left artifacts, state or memory items, but no conversation. */
export async function isUnfinishedBranch(storage: StorageBackend, agentId: string): Promise<boolean> {
  if ((await storage.documents.readBytes(['agents', agentId, SNAPSHOT_FILE])) !== null) return false;
  for (const name of ['raw_traces', 'pending_calls']) {
    const journal = await storage.openJournal(['agents', agentId, name], { readOnly: true });
    const { seq } = await journal.head();
    const isDamaged = journal.openingDamage().length > 0;
    await journal.close();
    if (seq > 0 || isDamaged) return false;
  }
  return true;
}

/**
 * Writes the agent. Its first trace, which makes it exist, comes last; what a crash left before that is used, not written twice.
 * @param memory of the new agent, opened for writing
 * @throws AGENT_EXISTS when something else is there
 */
export async function beginFromImage(
  memory: MemoryManager,
  image: AgentImage,
  checkpointId: string,
): Promise<void> {
  const { backend } = memory.store;
  const messages = image.messages.map((message) => messageFromJson(message as JsonValue));
  const blobs = backend.blobs(['agents', memory.agentId, 'artifacts']);
  for (const base64 of Object.values(image.artifacts)) await blobs.put(Buffer.from(base64, 'base64'));
  await beginDocuments(backend, ownStateFolder(memory.agentId), image.state);
  const { store } = memory;
  await store.addEpisodic(missing(memory, await store.listEpisodic(), image.episodic.map(episodicFromJson)));
  await store.addSemantic(missing(memory, await store.listSemantic(), image.semantic.map(semanticFromJson)));
  await memory.beginWith({
    reason: `checkpoint ${checkpointId}`,
    messages,
    epochId: image.epoch_id,
    lastCompactionTs: image.last_compaction_ts,
    lastTurn: image.last_turn,
  });
}

function missing<Item extends EpisodicItem | SemanticItem>(
  { agentId }: MemoryManager,
  found: readonly Item[],
  wanted: readonly Item[],
): Item[] {
  const isSame = found.every((item, index) => item.id === wanted[index]?.id);
  if (isSame) return wanted.slice(found.length);
  throw new RekindleError('AGENT_EXISTS', `The agent ${JSON.stringify(agentId)} has memories already.`, {
    details: { agentId },
  });
}
