/** Which summaries and facts go, and the summaries that take the place of those that covered more than what is erased. */
import { newId } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import type { Message } from '../../messages/message.js';
import { storedRecords } from '../../storage/erasure/journal-rows.js';
import type { Name, StorageBackend } from '../../storage/ports.js';
import { ExtractiveSummarizer } from '../compaction/extractive-summarizer.js';
import { wasGone } from '../facts/erase-facts.js';
import { originsOfItem } from '../facts/fact.js';
import { markOf, namedIds, rowId } from '../facts/fact-mark.js';
import { comesFrom, originsOf } from '../facts/fact-source.js';
import { FactTable } from '../facts/fact-table.js';
import {
  type EpisodicItem,
  episodicFromJson,
  episodicToJson,
  type SemanticItem,
  semanticFromJson,
} from '../models/memory-items.js';
import { tryTraceFromJson } from '../models/trace-serializer.js';
import { applyTrace, emptyMemoryState } from '../working-context-reducer.js';
import type { ErasedWords } from './erased-words.js';
import { type Rows, tracesName } from './part-traces.js';

/** What is erased. */
export interface Erased {
  readonly agent: string;
  readonly rows: Rows;
  /** The turns of its records. */
  readonly turns: ReadonlySet<string>;
  /** Everything of this turn goes; null if only the records go. */
  readonly wholeTurn: string | null;
  /** Null if it is not a source. */
  readonly source: string | null;
  readonly words: ErasedWords;
  /** Seconds since 1970. */
  readonly firstTs: number;
}

/** Summaries to erase, by number, and the rows that replace them in the same order. */
export interface SummaryChange {
  readonly seqs: readonly number[];
  readonly rows: readonly JsonObject[];
}

const SUMMARY_CHARS_MIN = 400;

export function episodicName(agent: string): Name {
  return ['agents', agent, 'episodic'];
}

/** From the first changed summary on all are written again, because their order counts. */
export async function changeOfSummaries(backend: StorageBackend, erased: Erased): Promise<SummaryChange> {
  const { summaries, purged } = await storedSummaries(backend, erased.agent);
  const items = summaries.map(({ seq, item }) => ({ seq, item, changes: isMadeFrom(item, erased) }));
  const from = items.findIndex(({ changes }) => changes);
  if (from < 0) return { seqs: [], rows: [] };
  const rows: JsonObject[] = [];
  const seqs: number[] = [];
  for (const { seq, item, changes } of items.slice(from)) {
    if (purged.has(item.id) && !changes) continue; // a copy after the row that purges it would count again
    seqs.push(seq);
    if (purged.has(item.id)) continue;
    const left = changes ? await summaryOfRest(backend, item, erased) : item;
    if (left) rows.push(episodicToJson(left));
  }
  return { seqs, rows };
}

function isMadeFrom(item: EpisodicItem, { turns, source, words }: Erased): boolean {
  if (item.turnIds.some((turn) => turns.has(turn))) return true;
  return (source !== null && comesFrom(item.origins ?? [], source)) || words.isIn(item.summary);
}

/** Made without a model, from the traces that stay. Null if none of its turns stays. */
async function summaryOfRest(
  backend: StorageBackend,
  item: EpisodicItem,
  { agent, rows, wholeTurn }: Erased,
): Promise<EpisodicItem | null> {
  const turns = new Set(item.turnIds.filter((turn) => turn !== wholeTurn));
  const messages = turns.size === 0 ? [] : await messagesOf(backend, agent, turns, rows);
  if (messages.length === 0) return null;
  const maxItemChars = Math.max(SUMMARY_CHARS_MIN, item.summary.length);
  const { episodicSummary } = await new ExtractiveSummarizer().summarize(messages, { maxItemChars });
  if (episodicSummary.trim() === '') return null;
  const turnIds = [...new Set(messages.flatMap(({ turnId }) => turnId ?? []))];
  const id = newId('ep', Math.round(item.ts * 1000));
  return { ...item, id, turnIds, summary: episodicSummary, origins: originsOf(messages) };
}

async function messagesOf(
  backend: StorageBackend,
  agent: string,
  turns: ReadonlySet<string>,
  rows: Rows,
): Promise<readonly Message[]> {
  const state = emptyMemoryState();
  for await (const { seq, record } of storedRecords(backend, tracesName(agent))) {
    if (rows.has(seq) || !turns.has(String(record['turn_id']))) continue;
    const trace = record['trace_type'] === 'recall' ? null : tryTraceFromJson(record);
    if (trace) applyTrace(state, trace);
  }
  return state.snapshot.messages;
}

/** Oldest first, without purged ones. @param added rows that are not in the journal yet */
export async function summariesLeft(
  backend: StorageBackend,
  agent: string,
  without: ReadonlySet<number>,
  added: readonly JsonObject[],
): Promise<EpisodicItem[]> {
  const { summaries, purged } = await storedSummaries(backend, agent);
  const left = summaries.filter(({ seq, item }) => !without.has(seq) && !purged.has(item.id));
  return [...left.map(({ item }) => item), ...added.map(episodicFromJson)];
}

/** Oldest first, with the ids of those that a later row purges. */
async function storedSummaries(backend: StorageBackend, agent: string) {
  const summaries: { readonly seq: number; readonly item: EpisodicItem }[] = [];
  const purged = new Set<string>();
  for await (const { seq, record } of storedRecords(backend, episodicName(agent))) {
    if (markOf(record) === 'purge') for (const id of namedIds(record)) purged.add(id);
    if (typeof record['summary'] !== 'string') continue;
    const item = episodicFromJson(record);
    summaries.push({ seq, item: { ...item, id: item.id || rowId(seq) } });
  }
  return { summaries, purged };
}

/** The current facts, oldest first. */
export async function factsLeft(
  backend: StorageBackend,
  agent: string,
  without: ReadonlySet<number>,
): Promise<SemanticItem[]> {
  const [before, after] = [new FactTable(), new FactTable()];
  for await (const { seq, record } of storedRecords(backend, ['agents', agent, 'semantic'])) {
    before.apply(record, seq);
    if (!without.has(seq)) after.apply(record, seq);
  }
  // A fact that was replaced by an erased one counts again, unless that one was forgotten: see `eraseFacts`.
  return after.standing().filter(({ id }) => !wasGone(before, id));
}

/** Whether a fact comes from what is erased. */
export function isErasedFact(row: JsonObject, erased: Erased): boolean {
  if (typeof row['fact'] !== 'string') return false;
  const item = semanticFromJson(row);
  if (erased.source !== null && comesFrom(originsOfItem(item), erased.source)) return true;
  const { trace } = item;
  if (trace?.number !== null && trace?.number !== undefined && erased.rows.has(trace.number)) return true;
  if (trace && trace.turnId === erased.wholeTurn) return true;
  return !isStatement(item) && item.ts >= erased.firstTs && erased.words.isClearlyIn(item.fact);
}

/** The user's own words, found by rules: they come from their trace alone. */
function isStatement({ origins, trace }: SemanticItem): boolean {
  return trace !== undefined && origins?.length === 1 && origins[0] === 'user';
}
