/**
 * Call ids in trace rows of other programs: some rows have none, and some responses give one id to two calls.
 *
 * Each call gets a distinct id, and each result the id of its call, by the rule for whole lists (H7): results come in
 * the order of the calls. So a rebuild from the rows gives the same list as `repairHistory`. Our own rows do not need
 * this.
 */
import { type JsonObject, textOr } from '../../core/json.js';
import { CallIdRenaming, faultsOf } from '../../messages/legality/h7-distinct-call-ids.js';
import { joinBatches } from '../../messages/legality/pairing-rule.js';
import type { Repair } from '../../messages/legality/repairs.js';
import {
  isBlankText,
  type Message,
  type ToolCallSpec,
  toolCallsOf,
  toolResultOf,
} from '../../messages/message.js';
import type { JournalEntry } from '../../storage/ports.js';

type Entry = JournalEntry<JsonObject>;

/** A fault in the id of a call or its result, and how to find the call. */
export interface RenamedCall {
  readonly code: 'rename-call-id' | 'relink-result';
  readonly turnId: string;
  readonly newId: string;
  readonly oldId: string;
  readonly reason: string;
}

export interface DistinctRows {
  readonly entries: readonly Entry[];
  readonly renamed: readonly RenamedCall[];
}

const OUR_ID = /^rt_\d+_[0-9a-f]{10}$/;

/** Recognised by the id, which only in our rows has a random part. Checksums are no proof: they change when a store is copied. */
export function isOurRow(row: JsonObject): boolean {
  return OUR_ID.test(textOr(row['id']));
}

/** The row with a text where its id is null, absent or a number; other rows unchanged. */
export function withTextId(row: JsonObject): JsonObject {
  if (!isCall(row) && row['trace_type'] !== 'tool_result') return row;
  const id = row['tool_call_id'];
  if (isOurRow(row) || typeof id === 'string') return row;
  if (id === undefined || id === null) return { ...row, tool_call_id: '' };
  return typeof id === 'number' ? { ...row, tool_call_id: String(id) } : row;
}

export function withDistinctCallIds(entries: readonly Entry[]): DistinctRows {
  const rows = new DistinctCallRows();
  for (const entry of entries) rows.add(entry);
  return rows.done();
}

class DistinctCallRows {
  readonly #entries: Entry[] = [];
  readonly #renamed: RenamedCall[] = [];
  readonly #renaming = new CallIdRenaming();
  /** Positions of the calls of one response, and whether its text was seen. */
  #calls: number[] = [];
  #turn = '';
  #hasText = false;
  /** The calls of the newest response, and the results directly after it. */
  #named: readonly ToolCallSpec[] = [];
  #results: number[] = [];
  /** Ids of all calls before the newest response. */
  readonly #earlierIds = new Set<string>();

  add(entry: Entry): void {
    if (entry.kind !== 'record') {
      this.#entries.push(entry);
      return;
    }
    const row = withTextId(entry.record);
    if (this.#endsResponse(row)) this.#endResponse();
    if (this.#calls.length === 0 && this.#named.length > 0 && isSaid(row)) this.#endBatch();
    const own = row === entry.record ? entry : { ...entry, record: row };
    this.#entries.push(own);
    if (isOurRow(row) || typeof row['tool_call_id'] !== 'string') return;
    if (isCall(row)) {
      this.#turn = textOr(row['turn_id']);
      this.#calls.push(this.#entries.length - 1);
    } else if (row['trace_type'] === 'tool_result') this.#addResult(row['tool_call_id']);
  }

  done(): DistinctRows {
    this.#endResponse();
    this.#endBatch();
    return { entries: this.#entries, renamed: this.#renamed };
  }

  /** Consecutive calls of one turn form one response. Its text may come between or after them, once. */
  #endsResponse(row: JsonObject): boolean {
    if (this.#calls.length === 0) return false;
    if (isOurRow(row)) return true;
    if (isCall(row)) return textOr(row['turn_id']) !== this.#turn;
    if (row['trace_type'] !== 'assistant') return ['user', 'tool_result'].includes(textOr(row['trace_type']));
    const hadText = this.#hasText;
    this.#hasText = true;
    return hadText || textOr(row['turn_id']) !== this.#turn;
  }

  #endResponse(): void {
    const places = this.#calls;
    this.#calls = [];
    this.#hasText = false;
    if (places.length === 0) return;
    this.#endBatch();
    const calls = places.map((place) => ({ id: this.#idAt(place), name: '', arguments: {} }));
    const given: Message = { role: 'assistant', content: null, toolPayload: { toolCalls: calls } };
    const named = toolCallsOf(this.#renaming.next(given));
    for (const [index, { id }] of named.entries()) this.#setId(places[index]!, id);
    this.#named = named;
    const changed = named.filter(({ id }, index) => id !== calls[index]!.id);
    for (const [index, fault] of faultsOf(calls).entries())
      this.#renamed.push({
        code: 'rename-call-id',
        turnId: this.#turn,
        newId: changed[index]!.id,
        oldId: fault.id,
        reason: fault.reason,
      });
  }

  #addResult(toolCallId: string): void {
    const named = this.#renaming.next(resultMessage(toolCallId));
    this.#setId(this.#entries.length - 1, toolResultOf(named)!.toolCallId);
    if (this.#named.length > 0) this.#results.push(this.#entries.length - 1);
  }

  /** Matches a result with another spelling of its call's id, as in a whole list. */
  #endBatch(): void {
    const places = this.#results;
    const toolCalls = this.#named;
    this.#results = [];
    this.#named = [];
    if (places.length > 0) this.#relink(toolCalls, places);
    for (const { id } of toolCalls) this.#earlierIds.add(id);
  }

  #relink(toolCalls: readonly ToolCallSpec[], places: readonly number[]): void {
    const results = places.map((place) => resultMessage(this.#idAt(place)));
    const batch: Message[] = [{ role: 'assistant', content: null, toolPayload: { toolCalls } }, ...results];
    const repairs: Repair[] = [];
    const { messages } = joinBatches({ messages: batch, origins: null }, repairs, (id) =>
      this.#earlierIds.has(id),
    );
    for (const { messageIndex, callId, reason } of repairs) {
      const place = places[messageIndex - 1]!;
      const oldId = this.#idAt(place);
      this.#setId(place, toolResultOf(messages[messageIndex]!)!.toolCallId);
      this.#renamed.push({ code: 'relink-result', turnId: this.#turn, newId: callId!, oldId, reason });
    }
  }

  #idAt(place: number): string {
    const entry = this.#entries[place]!;
    return entry.kind === 'record' ? textOr(entry.record['tool_call_id']) : '';
  }

  #setId(place: number, id: string): void {
    const entry = this.#entries[place]!;
    if (entry.kind !== 'record' || entry.record['tool_call_id'] === id) return;
    this.#entries[place] = { ...entry, record: { ...entry.record, tool_call_id: id } };
  }
}

function resultMessage(toolCallId: string): Message {
  const payload = { toolCallId, toolName: '', toolResult: null, toolError: null };
  return { role: 'tool', content: null, toolPayload: payload };
}

/** For the report: the repairs, by the message that holds the call now. Messages that left the context are not listed. */
export function renameRepairs(renamed: readonly RenamedCall[], messages: readonly Message[]): Repair[] {
  if (renamed.length === 0) return [];
  const places = new Map<string, number>();
  for (const [index, message] of messages.entries())
    for (const { id } of toolCallsOf(message)) places.set(JSON.stringify([message.turnId ?? '', id]), index);
  return renamed.flatMap(({ code, turnId, newId, oldId, reason }): Repair[] => {
    const messageIndex = places.get(JSON.stringify([turnId, newId]));
    if (messageIndex === undefined) return [];
    return [{ code, messageIndex, callId: code === 'relink-result' ? newId : oldId, reason }];
  });
}

/** Shown in the list, so later results no longer directly follow their calls. */
function isSaid(row: JsonObject): boolean {
  if (row['trace_type'] !== 'user' && row['trace_type'] !== 'assistant') return isCall(row);
  const { content, media, parts } = row;
  return !isBlankText(textOr(content)) || media !== undefined || parts !== undefined;
}

function isCall(row: JsonObject): boolean {
  return row['trace_type'] === 'tool_call';
}
