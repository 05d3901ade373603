/**
 * What a trace journal states about itself: its owner, and the oldest reader version that can read it.
 *
 * The header is a trace of type `journal`, in the same commit as the first trace. If a trace needs a newer reader than
 * the journal declares, a raised header is written before it in its own commit. So an older release refuses a journal
 * that it would misread. Rows that hold a whole context repeat the header, because a rebuild reads nothing before them.
 */
import { RekindleError } from '../../core/errors.js';
import { newId } from '../../core/ids.js';
import { type JsonObject, textOr } from '../../core/json.js';
import type { Boundary, ForeignTrace, Trace } from './trace.js';

export interface JournalHeader {
  readonly agentId: string;
  /** The oldest reader version that can read what follows. */
  readonly reader: number;
}

/** Traces of one kind that this release does not know. They have no effect on the context, and stay in the journal. */
export interface UnknownTraces {
  /** The `trace_type`, or `boundary "<kind>"`. */
  readonly type: string;
  /** Journal number of the first one. */
  readonly seq: number;
  readonly count: number;
}

/** The reader version of this release. A release that adds a kind of trace increases it by one. */
export const JOURNAL_READER = 3;

/** The oldest reader version that reads each kind correctly. Reader 1: releases without headers, which skip unknown kinds. */
const TRACE_READERS: Readonly<Record<Exclude<Trace['type'], 'foreign'>, number>> = {
  journal: 1,
  user: 1,
  recall: 3,
  assistant: 1,
  tool_call: 1,
  tool_result: 1,
  compaction: 1,
  boundary: 1,
};
const BOUNDARY_READERS: Readonly<Record<Boundary['kind'], number>> = {
  system: 1,
  base: 1,
  repair: 1,
  edit: 2,
  compaction_failed: 1,
};

/** Rows of AutoByteus that have no effect on a context. */
const WITHOUT_EFFECT = new Set(['tool_continuation', 'operation_boundary', 'provider_compaction_boundary']);

export function readerNeededBy(row: JsonObject): number {
  const type = textOr(row['trace_type']);
  const boundary = type === 'boundary' ? readerOf(BOUNDARY_READERS, textOr(row['boundary'])) : 1;
  return Math.max(readerOf(TRACE_READERS, type), boundary);
}

function readerOf(readers: Readonly<Record<string, number>>, kind: string): number {
  return Object.hasOwn(readers, kind) ? readers[kind]! : 1;
}

/** The kind of a trace that this release does not understand; null if it is known to have no effect. */
export function unknownKindOf({ traceType, row }: ForeignTrace): string | null {
  if (WITHOUT_EFFECT.has(traceType)) return null;
  return traceType === 'boundary' ? `boundary ${JSON.stringify(row['boundary'] ?? null)}` : traceType;
}

export function countUnknown(found: Map<string, UnknownTraces>, type: string, seq: number): void {
  const known = found.get(type);
  found.set(type, { type, seq: known?.seq ?? seq, count: (known?.count ?? 0) + 1 });
}

/** Null for a row without information about its journal. */
export function headerOf(row: JsonObject): JournalHeader | null {
  const { agent_id: agentId, reader } = row;
  if (row['trace_type'] !== 'journal' && !holdsContext(row)) return null;
  if (typeof agentId !== 'string' || typeof reader !== 'number' || !Number.isSafeInteger(reader)) return null;
  return { agentId, reader };
}

/** A compaction or a base: a rebuild starts from the newest one. */
export function holdsContext(row: JsonObject): boolean {
  const isBase = row['trace_type'] === 'boundary' && row['boundary'] === 'base';
  return isBase || row['trace_type'] === 'compaction';
}

/** A header row, with the time of the trace that follows it. */
export function headerRow({ agentId, reader }: JournalHeader, next: JsonObject): JsonObject {
  const ts = Number(next['ts']);
  return {
    id: newId('rt', Math.round(ts * 1000)),
    ts,
    turn_id: '',
    seq: 0,
    trace_type: 'journal',
    source_event: 'JournalHeader',
    agent_id: agentId,
    reader,
  };
}

export function withHeader(row: JsonObject, { agentId, reader }: JournalHeader): JsonObject {
  return holdsContext(row) ? { ...row, agent_id: agentId, reader } : row;
}

/** @throws AGENT_FOREIGN if the journal states that it belongs to another agent */
export function assertOwner(owner: string | null, agentId: string): void {
  if (owner === null || owner === agentId) return;
  const text = `The folder of the agent ${JSON.stringify(agentId)} holds the traces of the agent ${JSON.stringify(owner)}.`;
  throw new RekindleError('AGENT_FOREIGN', text, { details: { agentId, owner, file: 'raw_traces.jsonl' } });
}

/** @throws UNSUPPORTED_VERSION if a newer release wrote the journal */
export function assertReadable(reader: number, agentId: string): void {
  if (reader <= JOURNAL_READER) return;
  const text = `The traces of the agent ${JSON.stringify(agentId)} need reader ${reader}, and this release is reader ${JOURNAL_READER}.`;
  throw new RekindleError('UNSUPPORTED_VERSION', text, {
    details: { agentId, file: 'raw_traces.jsonl', reader, supported: JOURNAL_READER },
  });
}
