/**
 * What a part of an agent consists of, in every place of its memory: numbers and ids, no content. It is stored before
 * anything is erased, so that after a crash the rest is found although the traces are gone.
 */
import type { JsonObject } from '../../core/json.js';
import { textOr } from '../../core/json.js';
import type { PartTarget } from '../../storage/erasure/erasure-marker.js';
import { headSeq, storedRecords } from '../../storage/erasure/journal-rows.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { isFactOf } from '../facts/erase-facts.js';
import { comesFrom, toolOrigin } from '../facts/fact-source.js';
import { subjectJournals } from '../facts/subject-facts.js';
import type { Boundary } from '../models/trace.js';
import { traceToJson } from '../models/trace-serializer.js';
import { derivedTraces } from './derived-traces.js';
import { ErasedMessages } from './erased-messages.js';
import { ErasedWords } from './erased-words.js';
import { artifactKeysIn, artifactsOnlyIn, textKeysOf } from './part-artifacts.js';
import { keyOf, type Rows, tracesName, tracesOfPart, turnOf } from './part-traces.js';
import { type RemainingContext, remainingContext } from './remaining-context.js';
import {
  changeOfSummaries,
  type Erased,
  episodicName,
  factsLeft,
  isErasedFact,
  summariesLeft,
} from './remaining-memory.js';

export interface PartScope {
  /** The erasure, in `erased.json`. */
  readonly id: string;
  /** Records of the part itself, and records that held copies of them. */
  readonly traces: readonly number[];
  readonly records: number;
  /** Ends of the journals before the erasure: what it adds comes after them. */
  readonly heads: { readonly raw_traces: number; readonly episodic: number };
  readonly episodic: readonly number[];
  readonly semantic: readonly number[];
  readonly ledger: readonly number[];
  /** All parts of answers: whole answers are in the traces. Absent in scopes of older releases. */
  readonly answerParts?: readonly number[];
  /** Queued inputs that are in the traces, or were. Absent in scopes of older releases. */
  readonly inputs?: readonly number[];
  /** Digests. */
  readonly artifacts: readonly string[];
  /** `turn_id`, NUL, `tool_call_id`. */
  readonly calls: readonly string[];
  /** All calls of this turn go. */
  readonly turn: string | null;
  readonly source: string | null;
  /** Facts of subjects, by the name of their journal. */
  readonly subjects: Readonly<Record<string, readonly number[]>>;
  /** Seconds since 1970: older checkpoints cannot hold the part. */
  readonly firstTs: number;
}

/** What is erased, as long as it is there. */
export interface PartContent {
  readonly erased: Erased;
  readonly messages: ErasedMessages;
  /** Records that hold copies. */
  readonly derived: Rows;
}

/** Null if there is nothing. Writes nothing. @throws as `tracesOfPart`, and as a restore */
export async function findPart(
  backend: StorageBackend,
  target: PartTarget,
  id: string,
): Promise<PartScope | null> {
  const content = await contentOf(backend, target);
  const { erased, derived } = content;
  const { agent } = target;
  const traces: Rows = new Map([...erased.rows, ...derived]);
  const semantic = await seqsIn(backend, ['agents', agent, 'semantic'], (row) => isErasedFact(row, erased));
  const subjects = await subjectSeqs(backend, erased);
  const summaries = await changeOfSummaries(backend, erased);
  if (traces.size + semantic.length + summaries.seqs.length + Object.keys(subjects).length === 0) return null;
  const calls = callsOf(erased.rows);
  const ledger = await ledgerSeqs(backend, erased, new Set(calls));
  const answerParts = await seqsIn(backend, ['agents', agent, 'answer_parts'], () => true);
  const inputs = await inputSeqs(backend, erased);
  const found = {
    id,
    traces: [...traces.keys()].sort((a, b) => a - b),
    records: erased.rows.size,
    heads: {
      raw_traces: await headSeq(backend, tracesName(agent)),
      episodic: await headSeq(backend, episodicName(agent)),
    },
    episodic: summaries.seqs,
    semantic,
    ledger,
    answerParts,
    inputs,
    calls,
    turn: erased.wholeTurn,
    source: erased.source,
    subjects,
    firstTs: erased.firstTs,
  };
  const { boundaries } = await contextWithout(backend, content, found, summaries.rows);
  const going = {
    raw_traces: traces,
    episodic: new Set(summaries.seqs),
    semantic: new Set(semantic),
    pending_calls: new Set(ledger),
    answer_parts: new Set(answerParts),
    inputs: new Set(inputs),
  };
  const added = [...summaries.rows, ...boundaries.map(rowOf)];
  const artifacts = await artifactsOnlyIn(backend, agent, going, added, candidatesOf(traces, erased));
  return { ...found, artifacts };
}

/** The new context. @param added summaries that are not in their journal yet */
export async function contextWithout(
  backend: StorageBackend,
  { erased, messages, derived }: PartContent,
  scope: Pick<PartScope, 'episodic' | 'semantic'>,
  added: readonly JsonObject[],
): Promise<RemainingContext> {
  const { agent, wholeTurn, words } = erased;
  const itemsChange = scope.episodic.length + scope.semantic.length > 0;
  const bundle = {
    episodic: await summariesLeft(backend, agent, new Set(scope.episodic), added),
    semantic: await factsLeft(backend, agent, new Set(scope.semantic)),
  };
  return remainingContext(backend, { agent, wholeTurn, words, messages, derived, itemsChange, bundle });
}

function rowOf(boundary: Boundary): JsonObject {
  return traceToJson({ id: '', ts: 0, turnId: '', seq: 0, sourceEvent: '', type: 'boundary', boundary });
}

function callsOf(rows: Rows): string[] {
  const calls = [...rows.values()].filter((row) => typeof row['tool_call_id'] === 'string');
  return [...new Set(calls.map((row) => keyOf(row, 'tool_call_id')))];
}

function ledgerSeqs(
  backend: StorageBackend,
  { agent, wholeTurn, source }: Erased,
  calls: ReadonlySet<string>,
): Promise<number[]> {
  return seqsIn(backend, ['agents', agent, 'pending_calls'], (row) => {
    const turn = textOr(row['turn_id']);
    const isOfTool = source !== null && comesFrom([toolOrigin(textOr(row['tool_name']))], source);
    return turn === wholeTurn || isOfTool || calls.has(`${turn}\u0000${textOr(row['call_id'])}`);
  });
}

/** An input that waits stays: it belongs to no turn yet. The others are copies. What a turn took is not named any more. */
async function inputSeqs(backend: StorageBackend, { agent, wholeTurn, rows }: Erased): Promise<number[]> {
  const name = ['agents', agent, 'inputs'];
  const done = new Set([...rows.values()].map((row) => textOr(row['input_id'])));
  for await (const { record } of storedRecords(backend, name))
    if (record['event'] !== 'queued') done.add(textOr(record['input_id']));
  return seqsIn(backend, name, ({ event, input_id: id, turn_id: turn }) =>
    event === 'queued' ? done.has(textOr(id)) : event === 'taken' && turn === wholeTurn,
  );
}

/** Read again after a crash, if nothing was erased yet. */
export async function contentOf(backend: StorageBackend, target: PartTarget): Promise<PartContent> {
  const rows = await tracesOfPart(backend, target);
  const words = await wordsOnlyIn(backend, target.agent, rows);
  const wholeTurn = turnOf(target);
  const messages = new ErasedMessages(rows, wholeTurn, words);
  const derived = await derivedTraces(backend, target.agent, { rows, messages, words });
  const times = [...rows.values(), ...derived.values()].map((row) => Number(row['ts']) || 0);
  const erased: Erased = {
    agent: target.agent,
    rows,
    turns: new Set([...(wholeTurn === null ? [] : [wholeTurn]), ...turnsOf(rows)]),
    wholeTurn,
    source: 'source' in target ? target.source : null,
    words,
    firstTs: times.length === 0 ? 0 : times.reduce((a, b) => Math.min(a, b)),
  };
  return { erased, messages, derived };
}

function turnsOf(rows: Rows): string[] {
  return [...rows.values()].map((row) => textOr(row['turn_id'])).filter((turn) => turn !== '');
}

/** A base, a compaction or an edit is a copy: it does not show that a word is in what stays. */
async function wordsOnlyIn(backend: StorageBackend, agent: string, rows: Rows): Promise<ErasedWords> {
  const words = new ErasedWords();
  for (const row of rows.values()) {
    words.addRow(row);
    for (const key of artifactKeysIn(row)) {
      if (key.length !== 64) continue;
      const bytes = await backend
        .blobs(['agents', agent, 'artifacts'])
        .get(key)
        .catch(() => null);
      if (bytes) words.add(new TextDecoder().decode(bytes));
    }
  }
  if (rows.size === 0) return words;
  const copies = new Set(['compaction', 'boundary', 'recall']);
  for await (const { seq, record } of storedRecords(backend, tracesName(agent)))
    if (!rows.has(seq) && !copies.has(textOr(record['trace_type']))) words.removeRow(record);
  return words;
}

function candidatesOf(all: Rows, { rows }: Erased): Set<string> {
  const keys = new Set<string>();
  for (const row of all.values()) for (const key of artifactKeysIn(row)) keys.add(key.slice(0, 16));
  for (const row of rows.values()) for (const key of textKeysOf(row)) keys.add(key);
  return keys;
}

async function subjectSeqs(
  backend: StorageBackend,
  erased: Erased,
): Promise<Readonly<Record<string, readonly number[]>>> {
  const found: Record<string, readonly number[]> = {};
  for (const { journal } of await subjectJournals(backend)) {
    const isIt = (row: JsonObject) => isFactOf(row, erased.agent) && isErasedFact(row, erased);
    const seqs = await seqsIn(backend, journal, isIt);
    if (seqs.length > 0) found[journal.join('/')] = seqs;
  }
  return found;
}

async function seqsIn(
  backend: StorageBackend,
  name: Name,
  picks: (row: JsonObject) => boolean,
): Promise<number[]> {
  const seqs: number[] = [];
  for await (const { seq, record } of storedRecords(backend, name)) if (picks(record)) seqs.push(seq);
  return seqs;
}
