/**
 * Forks an agent: a new agent with the context, facts and durable state that an agent had after one of its turns. The journal of the source
 * is not copied; recall and search of the fork read the source's past from the source.
 */
import { RekindleError } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { type ForkedFrom, type ForkOrigin, firstTraceOf } from '../../memory/lineage/forked-from.js';
import { type AgentMoment, type Moment, momentOf } from '../../memory/lineage/moment.js';
import { restoreAt } from '../../memory/lineage/store-at.js';
import { openMemory } from '../../memory/open-memory.js';
import { WorkingContextSnapshotBootstrapper } from '../../memory/restore/working-context-snapshot-bootstrapper.js';
import { MemoryStore } from '../../memory/store/memory-store.js';
import { isBlankMessage } from '../../messages/message.js';
import { encodeNameSegment } from '../../storage/name-encoding.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { type AgentImage, imageOf, readState } from '../checkpoints/agent-image.js';
import { openBegun } from '../checkpoints/begin-from-image.js';

/** Options of a fork. All are optional. */
export interface ForkOptions {
  /** The turn or record after which the fork leaves the agent. Default: its newest record. */
  readonly at?: AgentMoment;
  /** The id of the fork, which must be new. Default: a generated one. */
  readonly as?: string;
  /** Folder of the agent's durable state. Default: the agent's own, else `['state']`; null: fork no state. */
  readonly stateFolder?: Name | null;
}

/** A fork that was made. */
export interface AgentFork {
  readonly agentId: string;
  readonly forkedFrom: ForkedFrom;
  /** Number of messages in its context. */
  readonly messages: number;
}

/**
 * Forks an agent, which may be running, here or in another process, and does not change. Durable when it resolves. After a crash, repeat the
 * call with the same arguments.
 *
 * The fork has the context as it was, with its media and stored results, the facts, and the agent's durable state at that time. A call that had
 * no result there gets the outcome that is known today, and never runs again.
 * ```ts
 * const { agentId } = await forkAgent(storage, 'desk', { at: { turn: 7 }, as: 'desk-2' });
 * const agent = await openAgent(agentId, { storage, model });
 * ```
 * @throws AGENT_NOT_FOUND, AGENT_EXISTS, INVALID_NAME, INVALID_ARGUMENT for a moment that does not exist or has no message, LEASE_HELD, and what
 * storage throws
 */
export async function forkAgent(
  storage: StorageBackend,
  agentId: string,
  { at, as = newId(agentId, Date.now()), stateFolder }: ForkOptions = {},
): Promise<AgentFork> {
  encodeNameSegment(as);
  const moment = await momentOf(storage, agentId, at);
  const origin = await originOf(storage, moment);
  const source = `the agent ${JSON.stringify(moment.agentId)} at record ${moment.record}`;
  const beginning = {
    from: source,
    reason: `fork of ${source}`,
    image: () => imageAt(storage, moment, stateFolder),
    origin,
  };
  const open = () => openMemory(storage, as, { compaction: null });
  const opened = await openBegun(storage, as, beginning, open);
  try {
    const { memory } = opened;
    const { messages } = await new WorkingContextSnapshotBootstrapper().bootstrap(memory, null);
    await memory.persistWorkingContextSnapshot();
    const { agentId: from, record, turn } = origin;
    return { agentId: as, forkedFrom: { agentId: from, record, turn }, messages };
  } finally {
    await opened.close();
  }
}

async function originOf(storage: StorageBackend, { agentId, record, turn }: Moment): Promise<ForkOrigin> {
  const store = new MemoryStore(storage, agentId, null);
  try {
    return { agentId, record, turn, firstTrace: await firstTraceOf(store) };
  } finally {
    await store.close();
  }
}

/** @throws INVALID_ARGUMENT if nothing had been recorded there */
async function imageAt(
  storage: StorageBackend,
  moment: Moment,
  stateFolder: Name | null | undefined,
): Promise<AgentImage> {
  const state = await readState(storage, moment.agentId, stateFolder, moment.ms);
  return restoreAt(storage, moment, (memory, messages) => {
    const isEmpty = messages.every((message) => message.role === 'system' || isBlankMessage(message));
    if (isEmpty) throw tooEarly(moment);
    return imageOf(memory, messages, state);
  });
}

function tooEarly({ agentId, record }: Moment): RekindleError {
  const text = `The agent ${JSON.stringify(agentId)} had no message at record ${record}, so a fork would be empty. Choose a later record, or create a new agent.`;
  return new RekindleError('INVALID_ARGUMENT', text, { details: { argument: 'at', agentId, record } });
}
