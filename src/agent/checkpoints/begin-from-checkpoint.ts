/**
 * Begins a new agent (a branch) from a checkpoint of another agent or of its own past. The saved agent does
 * not change.
 */
import { CheckpointService } from '../../checkpoints/checkpoint-service.js';
import { AGENT_KIND } from '../../checkpoints/save-params.js';
import { RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import { episodicFromJson, semanticFromJson } from '../../memory/models/memory-items.js';
import {
  assertAgentIsNew,
  endBeginning,
  noteBeginning,
  type OpenMemory,
  unfinishedBeginning,
} from '../../memory/open-memory.js';
import { messageFromJson } from '../../messages/message-serializer.js';
import { assertDocuments, beginDocuments } from '../../state/durable/copy-documents.js';
import type { StorageBackend } from '../../storage/ports.js';
import { type AgentImage, asAgentImage, ownStateFolder } from './agent-image.js';
import type { FromCheckpoint } from './from-checkpoint.js';

/**
 * The agent in a checkpoint. The context itself proves nothing about its origin: the checkpoint's record must
 * show that `checkpointAgent` saved it.
 * @throws CHECKPOINT_NOT_FOUND, INVALID_ARGUMENT for a checkpoint without an agent, and as
 * `CheckpointService.load`
 */
async function loadAgentImage(
  storage: StorageBackend,
  { checkpointId, service, trustContext = false }: FromCheckpoint,
): Promise<AgentImage> {
  const checkpoints = service ?? new CheckpointService({ backend: storage });
  try {
    const { kind } = await checkpoints.metadata({ checkpointId });
    if (kind !== AGENT_KIND && !trustContext) throw notAnAgent(checkpointId, kind);
    const { context } = await checkpoints.load({ checkpointId });
    return asAgentImage(context, checkpointId);
  } finally {
    if (!service) await checkpoints.close();
  }
}

function notAnAgent(checkpointId: string, kind: string | null): RekindleError {
  return new RekindleError(
    'INVALID_ARGUMENT',
    `${checkpointId} was saved as ${kind === null ? 'a plain context' : `a ${kind}`}, not as a whole agent. An agent can only begin from a checkpoint that \`checkpointAgent\` saved, unless \`trustContext\` is set.`,
    { details: { field: 'fromCheckpoint', checkpointId, kind } },
  );
}

/**
 * Opens and writes an agent that begins from a checkpoint. A restore must follow. If an earlier attempt
 * crashed, its parts are used.
 * @param open opens the memory of the new agent for writing
 * @throws AGENT_EXISTS, and as `loadAgentImage`; nothing is written then
 */
export async function openBranch(
  storage: StorageBackend,
  agentId: string,
  from: FromCheckpoint,
  open: () => Promise<OpenMemory>,
): Promise<OpenMemory> {
  await assertIsFree(storage, agentId, from.checkpointId); // before the lease: a wrong id must leave nothing behind
  const image = await loadAgentImage(storage, from);
  const opened = await open();
  try {
    await assertIsFree(storage, agentId, from.checkpointId); // another process may have been first
    await beginFromImage(opened.memory, image, from.checkpointId);
    return opened;
  } catch (thrown) {
    await opened.close().catch(() => {}); // report the first error
    throw thrown;
  }
}

async function assertIsFree(storage: StorageBackend, agentId: string, checkpointId: string): Promise<void> {
  if ((await unfinishedBeginning(storage, agentId)) !== checkpointId)
    await assertAgentIsNew(storage, agentId);
}

/**
 * Writes the agent. Its first trace makes it exist, so it is written last. Parts from an attempt that crashed
 * are used, not written twice.
 * @param memory of the new agent, opened for writing
 */
async function beginFromImage(memory: MemoryManager, image: AgentImage, checkpointId: string): Promise<void> {
  const { store, agentId } = memory;
  const { backend } = store;
  // Validate everything before the first write.
  const messages = image.messages.map((message) => messageFromJson(message as JsonValue));
  const episodic = image.episodic.map(episodicFromJson);
  const semantic = image.semantic.map(semanticFromJson);
  assertDocuments(image.state);
  await noteBeginning(backend, agentId, checkpointId);
  const blobs = backend.blobs(['agents', agentId, 'artifacts']);
  for (const bytes of bytesOf(image.artifacts).values()) await blobs.put(bytes);
  const documents = { values: image.state, attachments: bytesOf(image.state_artifacts) };
  await beginDocuments(backend, ownStateFolder(agentId), documents);
  // Items are written in order, so a crash leaves a prefix of them.
  await store.addEpisodic(episodic.slice((await store.listEpisodic()).length));
  const { seq: written } = await (await store.journal('semantic')).head();
  await store.addSemantic(semantic.slice(written));
  await memory.beginWith({
    reason: `checkpoint ${checkpointId}`,
    messages,
    epochId: image.epoch_id,
    lastCompactionTs: image.last_compaction_ts,
    lastTurn: image.last_turn,
  });
  await endBeginning(backend, agentId);
}

function bytesOf(artifacts: AgentImage['artifacts']): Map<string, Uint8Array> {
  return new Map(Object.entries(artifacts).map(([ref, base64]) => [ref, Buffer.from(base64, 'base64')]));
}
