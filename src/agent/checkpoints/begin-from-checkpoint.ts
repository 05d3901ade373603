/** Begins a new agent from a checkpoint of another, or of its own past: a branch. The agent that was saved is not touched. */
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
 * The agent in a checkpoint. What the context says of itself proves nothing: its record has to say that `checkpointAgent` saved it.
 * @throws CHECKPOINT_NOT_FOUND, INVALID_ARGUMENT for a checkpoint without an agent, and as `CheckpointService.load`
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
    `${checkpointId} was saved as ${kind === null ? 'a plain context' : `a ${kind}`}, not as a whole agent. Only what \`checkpointAgent\` saved can begin an agent, unless \`trustContext\` is set.`,
    { details: { field: 'fromCheckpoint', checkpointId, kind } },
  );
}

/**
 * Opens an agent that begins from a checkpoint, and writes it: a restore comes next. What a crash left of doing the same is used.
 * @param open the memory of the new agent, for writing
 * @throws AGENT_EXISTS, and as `loadAgentImage`, with nothing written
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
    await opened.close().catch(() => {}); // the first error is the one to tell
    throw thrown;
  }
}

async function assertIsFree(storage: StorageBackend, agentId: string, checkpointId: string): Promise<void> {
  if ((await unfinishedBeginning(storage, agentId)) !== checkpointId)
    await assertAgentIsNew(storage, agentId);
}

/**
 * Writes the agent. Its first trace, which makes it exist, comes last; what a crash left before that is used, not written twice.
 * @param memory of the new agent, opened for writing
 */
async function beginFromImage(memory: MemoryManager, image: AgentImage, checkpointId: string): Promise<void> {
  const { store, agentId } = memory;
  const { backend } = store;
  // All that can be wrong with it, before anything is written.
  const messages = image.messages.map((message) => messageFromJson(message as JsonValue));
  const episodic = image.episodic.map(episodicFromJson);
  const semantic = image.semantic.map(semanticFromJson);
  assertDocuments(image.state);
  await noteBeginning(backend, agentId, checkpointId);
  const blobs = backend.blobs(['agents', agentId, 'artifacts']);
  for (const bytes of bytesOf(image.artifacts).values()) await blobs.put(bytes);
  const documents = { values: image.state, attachments: bytesOf(image.state_artifacts) };
  await beginDocuments(backend, ownStateFolder(agentId), documents);
  // Of what is written in order, a crash leaves the beginning.
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
