/** Finds the traces that facts come from. Reads backward, and no further than necessary. */
import { type JsonObject, textOr } from '../../core/json.js';
import type { FactTrace, SemanticItem } from '../models/memory-items.js';
import type { MemoryStore } from '../store/memory-store.js';
import { toolOrigin } from './fact-source.js';

/** Maximum rows read for one turn, and for all turns of a compaction. */
const TURN_ROWS_MAX = 1_000;
const ROWS_MAX = 20_000;

interface TraceRow {
  readonly number: number;
  readonly turnId: string;
  readonly row: JsonObject;
}

/** The newest message, call or result; null if there is none. */
export async function lastTrace(store: MemoryStore): Promise<FactTrace | null> {
  for await (const { number, turnId } of rowsBackward(store, TURN_ROWS_MAX))
    return { agentId: store.agentId, number, turnId };
  return null;
}

/** The tools with a result in the current turn, as origins: what a model remembers now may come from them. */
export async function toolOriginsOfTurn(store: MemoryStore, except: ReadonlySet<string>): Promise<string[]> {
  const origins = new Set<string>();
  let turn: string | null = null;
  for await (const { turnId, row } of rowsBackward(store, TURN_ROWS_MAX)) {
    turn ??= turnId;
    if (turnId !== turn) break;
    const name = textOr(row['tool_name']);
    if (row['trace_type'] === 'tool_result' && !except.has(name)) origins.add(toolOrigin(name));
  }
  return [...origins];
}

/** Adds the number of its trace to each fact of a compaction. Drops facts that were forgotten or purged after that trace. */
export async function settleFacts(
  store: MemoryStore,
  items: readonly SemanticItem[],
): Promise<SemanticItem[]> {
  if (items.length === 0) return [];
  const traces = await tracesOfTurns(store, new Set(items.flatMap(({ trace }) => trace?.turnId ?? [])));
  const tables = [await store.facts.table(), ...(store.subject ? [await store.subject.table()] : [])];
  return items.flatMap((item): SemanticItem[] => {
    const said = traces.get(item.trace?.turnId ?? '');
    const gone = Math.max(...tables.map((table) => table.goneSince(item.fact) ?? Number.NEGATIVE_INFINITY));
    if (gone >= (said?.ts ?? Number.NEGATIVE_INFINITY) && gone !== Number.NEGATIVE_INFINITY) return [];
    if (!item.trace) return [item];
    return [{ ...item, trace: { ...item.trace, agentId: store.agentId, number: said?.number ?? null } }];
  });
}

/** The newest user message of each turn. */
async function tracesOfTurns(
  store: MemoryStore,
  turns: Set<string>,
): Promise<Map<string, { readonly number: number; readonly ts: number }>> {
  const found = new Map<string, { readonly number: number; readonly ts: number }>();
  if (turns.size === 0) return found;
  for await (const { number, turnId, row } of rowsBackward(store, ROWS_MAX)) {
    if (row['trace_type'] !== 'user' || !turns.has(turnId) || found.has(turnId)) continue;
    found.set(turnId, { number, ts: typeof row['ts'] === 'number' ? row['ts'] : 0 });
    if (found.size === turns.size) break;
  }
  return found;
}

async function* rowsBackward(store: MemoryStore, max: number): AsyncGenerator<TraceRow> {
  let seen = 0;
  for await (const entry of (await store.journal('raw_traces')).readBackward()) {
    seen += 1;
    const turnId = entry.kind === 'record' ? textOr(entry.record['turn_id']) : '';
    if (entry.kind === 'record' && turnId !== '') yield { number: entry.seq, turnId, row: entry.record };
    if (seen >= max) return;
  }
}
