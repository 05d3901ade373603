/** Begins a new agent from an image of another one: a checkpoint, or a moment in its past. The other one does not change. */
import type { JsonValue } from '../../core/json.js';
import { type ForkOrigin, writeOrigin } from '../../memory/lineage/forked-from.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import { episodicFromJson, semanticFromJson } from '../../memory/models/memory-items.js';
import {
  assertAgentIsNew,
  endBeginning,
  noteBeginning,
  type OpenMemory,
  unfinishedBeginning,
} from '../../memory/open-memory.js';
import type { MemoryStore } from '../../memory/store/memory-store.js';
import { messageFromJson } from '../../messages/message-serializer.js';
import { assertDocuments, beginDocuments } from '../../state/durable/copy-documents.js';
import type { StorageBackend } from '../../storage/ports.js';
import { type AgentImage, ownStateFolder } from './agent-image.js';

/** Where a new agent begins. */
export interface Beginning {
  /** Names the source, in errors too. A crashed attempt is continued only from the same one. */
  readonly from: string;
  /** The reason of the base that begins its traces. */
  readonly reason: string;
  image(): Promise<AgentImage>;
  /** Of a fork: the agent keeps the past of its source. */
  readonly origin?: ForkOrigin;
}

/**
 * Opens and writes an agent that begins from an image. A restore must follow. If an earlier attempt crashed, its parts
 * are used.
 * @param open opens the memory of the new agent for writing
 * @throws AGENT_EXISTS, and what `image` throws; nothing is written then
 */
export async function openBegun(
  storage: StorageBackend,
  agentId: string,
  beginning: Beginning,
  open: () => Promise<OpenMemory>,
): Promise<OpenMemory> {
  await assertIsFree(storage, agentId, beginning.from); // before the lease: a wrong id must leave nothing behind
  const image = await beginning.image();
  const opened = await open();
  try {
    await assertIsFree(storage, agentId, beginning.from); // another process may have been first
    await beginFromImage(opened.memory, image, beginning);
    return opened;
  } catch (thrown) {
    await opened.close().catch(() => {}); // report the first error
    throw thrown;
  }
}

async function assertIsFree(storage: StorageBackend, agentId: string, from: string): Promise<void> {
  if ((await unfinishedBeginning(storage, agentId)) !== from) await assertAgentIsNew(storage, agentId);
}

/**
 * Writes the agent. Its first trace makes it exist, so it is written last. Parts from an attempt that crashed
 * are used, not written twice.
 * @param memory of the new agent, opened for writing
 */
async function beginFromImage(
  memory: MemoryManager,
  image: AgentImage,
  { from, reason, origin }: Beginning,
): Promise<void> {
  const { store, agentId } = memory;
  const { backend } = store;
  // Validate everything before the first write.
  const messages = image.messages.map((message) => messageFromJson(message as JsonValue));
  const episodic = image.episodic.map(episodicFromJson);
  const semantic = image.semantic.map(semanticFromJson);
  assertDocuments(image.state);
  await noteBeginning(backend, agentId, from);
  if (origin) await writeOrigin(backend, agentId, origin);
  const blobs = backend.blobs(['agents', agentId, 'artifacts']);
  for (const bytes of bytesOf(image.artifacts).values()) await blobs.put(bytes);
  const documents = { values: image.state, attachments: bytesOf(image.state_artifacts) };
  await beginDocuments(backend, ownStateFolder(agentId), documents);
  // Items are written in order, so a crash leaves a prefix of them.
  await store.addEpisodic(episodic.slice((await store.listEpisodic()).length));
  const { seq: written } = await (await store.journal('semantic')).head();
  await store.addSemantic(semantic.slice(written));
  if (origin) await continueAfter(store, origin.record);
  await memory.beginWith({
    reason,
    messages,
    epochId: image.epoch_id,
    lastCompactionTs: image.last_compaction_ts,
    lastTurn: image.last_turn,
  });
  await endBeginning(backend, agentId);
}

/** The fork's records continue the numbers of its source. A crashed attempt may have set the number already. */
async function continueAfter(store: MemoryStore, record: number): Promise<void> {
  const journal = await store.journal('raw_traces');
  if ((await journal.head()).seq === 0) await journal.continueAfter(record);
}

function bytesOf(artifacts: AgentImage['artifacts']): Map<string, Uint8Array> {
  return new Map(Object.entries(artifacts).map(([ref, base64]) => [ref, Buffer.from(base64, 'base64')]));
}
