/** Captures a whole agent as one JSON object, and reads it back. */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import { Type } from '../../core/schema.js';
import { lazySchema } from '../../core/schema-check.js';
import { restoreDry } from '../../memory/maintenance/restore-dry.js';
import type { MemoryManager } from '../../memory/memory-manager.js';
import { episodicToJson, semanticToJson } from '../../memory/models/memory-items.js';
import type { Message } from '../../messages/message.js';
import { messageToJson } from '../../messages/message-serializer.js';
import { type CopiedDocuments, readDocuments } from '../../state/durable/copy-documents.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { artifactsOf } from '../model/artifacts.js';

const FORMAT = 'rekindle-agent';
const VERSION = 1;

/**
 * A whole agent as one JSON object: its restored working context, long-term memory, referenced artifacts and
 * durable state. It is enough to begin a new agent.
 */
export interface AgentImage {
  readonly format: typeof FORMAT;
  readonly version: number;
  readonly agent_id: string;
  readonly epoch_id: number;
  readonly last_compaction_ts: number | null;
  readonly last_turn: number;
  readonly messages: readonly JsonObject[];
  readonly episodic: readonly JsonObject[];
  readonly semantic: readonly JsonObject[];
  /** Base64 by `sha256:` reference. */
  readonly artifacts: { readonly [ref: string]: string };
  /** Documents of its durable state, by name. `state_artifacts` has the artifacts that they refer to. */
  readonly state: { readonly [name: string]: JsonObject };
  readonly state_artifacts: { readonly [ref: string]: string };
}

const objects = Type.Array(Type.Object({}));
const checkImage = lazySchema(
  Type.Object({
    format: Type.Literal(FORMAT),
    version: Type.Literal(VERSION),
    agent_id: Type.String(),
    epoch_id: Type.Integer(),
    last_compaction_ts: Type.Union([Type.Number(), Type.Null()]),
    last_turn: Type.Integer({ minimum: 0 }),
    messages: objects,
    episodic: objects,
    semantic: objects,
    artifacts: Type.Object({}, { additionalProperties: Type.String() }),
    state: Type.Object({}, { additionalProperties: Type.Object({}) }),
    state_artifacts: Type.Object({}, { additionalProperties: Type.String() }),
  }),
);

/** The folder of one agent's own durable state, when agents do not share it. */
export function ownStateFolder(agentId: string): Name {
  return ['agents', agentId, 'state'];
}

/**
 * The agent as it is stored now. The agent may be running, here or in another process. Open calls are closed
 * as a restore closes them, because an agent begun from this image must not run them again. Writes nothing.
 * @param stateFolder default: the agent's own, else `['state']`; null: no state
 * @throws AGENT_NOT_FOUND, CONTEXT_BLANK, and what storage throws
 */
export async function captureAgent(
  backend: StorageBackend,
  agentId: string,
  stateFolder?: Name | null,
): Promise<AgentImage> {
  const state = await readState(backend, agentId, stateFolder);
  return restoreDry(backend, agentId, (memory, messages) => imageOf(memory, messages, state));
}

/** @param memory restored, with these messages */
export async function imageOf(
  memory: MemoryManager,
  messages: readonly Message[],
  state: CopiedDocuments,
): Promise<AgentImage> {
  const artifacts = await artifactsOf(messages, (ref) => memory.getArtifact(ref));
  return {
    format: FORMAT,
    version: VERSION,
    agent_id: memory.agentId,
    epoch_id: memory.epochId,
    last_compaction_ts: memory.lastCompactionTs,
    last_turn: memory.lastTurn,
    messages: messages.map(messageToJson),
    episodic: (await memory.store.listEpisodic()).map(episodicToJson),
    semantic: (await memory.store.listSemantic()).map(semanticToJson),
    artifacts: base64Of(artifacts),
    state: state.values,
    state_artifacts: base64Of(state.attachments),
  };
}

/** @param folder default: the agent's own, else `['state']`; null: no state @param untilMs as for `readDocuments` */
export async function readState(
  backend: StorageBackend,
  agentId: string,
  folder?: Name | null,
  untilMs?: number,
): Promise<CopiedDocuments> {
  if (folder === null) return { values: {}, attachments: new Map<string, Uint8Array>() };
  if (folder !== undefined) return readDocuments(backend, folder, untilMs);
  const own = await readDocuments(backend, ownStateFolder(agentId), untilMs);
  return Object.keys(own.values).length > 0 ? own : readDocuments(backend, ['state'], untilMs);
}

function base64Of(artifacts: ReadonlyMap<string, Uint8Array>): { [ref: string]: string } {
  const entries = [...artifacts].map(([ref, bytes]) => [ref, Buffer.from(bytes).toString('base64')]);
  return Object.fromEntries(entries) as { [ref: string]: string };
}

/** @throws INVALID_ARGUMENT for a context of another shape, UNSUPPORTED_VERSION */
export function asAgentImage(context: JsonValue, checkpointId: string): AgentImage {
  const { format, version } = context as JsonObject;
  if (format === FORMAT && typeof version === 'number' && version > VERSION)
    throw new RekindleError('UNSUPPORTED_VERSION', `${checkpointId} needs a newer release.`, {
      details: { checkpointId, version },
    });
  if (checkImage()(context)) return context as unknown as AgentImage;
  throw new RekindleError('INVALID_ARGUMENT', `${checkpointId} is not a checkpoint of a whole agent.`, {
    details: { checkpointId, violations: checkImage().violations() as unknown as JsonValue },
  });
}
