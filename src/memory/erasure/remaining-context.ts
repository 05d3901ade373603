/**
 * The context without what is erased, as a base: a restore starts from it and reads none of the erased records. To make it, the
 * context is restored, the erased messages are removed, the memory message is rebuilt, and the result is made legal again.
 */
import { canonicalJson } from '../../core/canonical-json.js';
import { repairHistory } from '../../messages/legality/history.js';
import { type Message, textOf } from '../../messages/message.js';
import { messageToJson } from '../../messages/message-serializer.js';
import type { Lease, StorageBackend } from '../../storage/ports.js';
import { CompactionSnapshotBuilder } from '../compaction/compaction-snapshot-builder.js';
import { FACTS_KEPT } from '../compaction/compactor.js';
import { fitBundle } from '../compaction/fit-bundle.js';
import { keepFacts } from '../facts/keep-facts.js';
import { MemoryManager } from '../memory-manager.js';
import type { MemoryBundle } from '../models/memory-items.js';
import type { Boundary } from '../models/trace.js';
import { tryTraceFromJson } from '../models/trace-serializer.js';
import type { RestoreReport } from '../restore/restore-report.js';
import { WorkingContextSnapshotBootstrapper } from '../restore/working-context-snapshot-bootstrapper.js';
import { MemoryStore } from '../store/memory-store.js';
import { type Base, tracedTurns } from './derived-traces.js';
import type { ErasedMessages } from './erased-messages.js';
import type { ErasedWords } from './erased-words.js';
import type { Rows } from './part-traces.js';

const REASON = 'erased';
/** A summary needs some space, also where the memory message was short. */
const MEMORY_CHARS_MIN = 600;
const SUMMARIES_MAX = 50;

/** What is erased, and what is left of the memory items. */
export interface ErasedContext {
  readonly agent: string;
  readonly wholeTurn: string | null;
  readonly words: ErasedWords;
  readonly messages: ErasedMessages;
  readonly derived: Rows;
  /** Summaries or facts changed. */
  readonly itemsChange: boolean;
  readonly bundle: MemoryBundle;
}

/** The boundaries to append, the new context last. */
export interface RemainingContext {
  readonly boundaries: readonly Boundary[];
  /** The reader version that the journal declares. */
  readonly reader: number;
}

export async function remainingContext(
  backend: StorageBackend,
  erased: ErasedContext,
): Promise<RemainingContext> {
  return restored(backend, erased.agent, null, async (memory, report) => {
    const { epochId, lastCompactionTs, lastTurn } = memory;
    const keepOpen = new Set(
      report.interruptedCalls.filter((call) => call.leftOpen).map((call) => call.callId),
    );
    const kept = withMemory(erased.messages.without(memory.getWorkingContextMessages()), erased);
    const { messages } = repairHistory(kept, { keepOpen });
    const whole = { kind: 'base', reason: REASON, epochId, lastCompactionTs, lastTurn } as const;
    const copies = await messagesWithoutTraces(backend, erased, messages);
    const copied: Boundary[] = copies.length === 0 ? [] : [{ ...whole, messages: copies }];
    return { boundaries: [...copied, { ...whole, messages }], reader: memory.store.declaredReader };
  });
}

/** Restores without regard to unfinished erasures. @param lease null: in memory only, writes nothing */
export async function restored<T>(
  backend: StorageBackend,
  agent: string,
  lease: Lease | null,
  look: (memory: MemoryManager, report: RestoreReport) => Promise<T>,
): Promise<T> {
  const memory = new MemoryManager({ store: new MemoryStore(backend, agent, lease), compactor: null });
  try {
    return await look(memory, await new WorkingContextSnapshotBootstrapper().bootstrap(memory, null));
  } finally {
    await memory.close();
  }
}

function withMemory(messages: readonly Message[], { words, itemsChange, bundle }: ErasedContext): Message[] {
  return messages.flatMap((message) => {
    if (message.kind !== 'memory' || !(itemsChange || words.isIn(textOf(message)))) return [message];
    const most = {
      episodic: bundle.episodic.slice(-SUMMARIES_MAX),
      semantic: keepFacts(bundle.semantic, FACTS_KEPT),
    };
    const fitted = fitBundle(most, Math.max(MEMORY_CHARS_MIN, textOf(message).length));
    return new CompactionSnapshotBuilder().build('', fitted, []);
  });
}

/** Messages of erased bases that stand nowhere else: those of a host, or of the agent from whose checkpoint this one began. */
async function messagesWithoutTraces(
  backend: StorageBackend,
  { agent, wholeTurn, messages, derived }: ErasedContext,
  context: readonly Message[],
): Promise<Message[]> {
  const bases = [...derived.values()].flatMap((row): Base[] => {
    const trace = tryTraceFromJson(row);
    return trace?.type === 'boundary' && trace.boundary.kind === 'base' ? [trace.boundary] : [];
  });
  if (bases.length === 0) return [];
  const traced = await tracedTurns(backend, agent);
  const known = new Set(context.map(identity));
  const left: Message[] = [];
  for (const message of bases.flatMap((base) => messages.without(base.messages))) {
    const isTraced =
      message.turnId !== undefined && message.turnId !== wholeTurn && traced.has(message.turnId);
    if (isTraced || message.role === 'system' || message.kind || known.has(identity(message))) continue;
    known.add(identity(message));
    left.push(message);
  }
  return left;
}

function identity(message: Message): string {
  return canonicalJson(messageToJson(message));
}
