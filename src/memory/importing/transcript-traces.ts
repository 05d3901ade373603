/**
 * Converts the items of a transcript to traces: turns start with the user, calls follow the answer that made them, and
 * results are in the turn of their call. Faults of the conversation are recorded unchanged; the reducer and the restore
 * fix them.
 */
import { createHash } from 'node:crypto';
import { formatTurnId, newId, turnNumber } from '../../core/ids.js';
import type { JsonObject } from '../../core/json.js';
import { toJsonValue } from '../../core/to-json-value.js';
import { IdTable } from '../../messages/importers/reading/id-table.js';
import { NumberColumn } from '../../messages/importers/reading/number-column.js';
import type { TranscriptItem } from '../../messages/importers/transcript.js';
import { unfinishedCalls } from '../../messages/legality/aborted-turns.js';
import { knownRoles } from '../../messages/legality/h1-known-roles.js';
import { CallIdRenaming } from '../../messages/legality/h7-distinct-call-ids.js';
import { mendMessage } from '../../messages/legality/history.js';
import { inTheirRoles } from '../../messages/legality/payloads-in-their-roles.js';
import {
  isBlankMessage,
  isBlankText,
  isToolCallPayload,
  type Message,
  textOf,
  toolCallsOf,
  toolResultOf,
} from '../../messages/message.js';
import { messageToJson } from '../../messages/message-serializer.js';
import type { Boundary, Trace } from '../models/trace.js';
import { traceToJson } from '../models/trace-serializer.js';
import type { LedgerCall } from '../store/tool-call-ledger.js';
import { boundaryBody, callBodies, type TraceBody } from '../trace-bodies.js';
import { CallBatches, type DatedMessage } from './call-batches.js';
import { LateResults } from './late-results.js';
import { UnansweredCalls } from './unanswered-calls.js';

const SOURCE_EVENT = 'Import';
/** The end of the year 9999, in seconds: a later value is not a valid time. */
const TIME_MAX = 253_402_300_799;

export class TranscriptTraces {
  readonly #nowMs: () => number;
  #turn = 0;
  #turnSeq = 0;
  #epoch = 1;
  /** Texts of the system prompt; those at the head are joined. */
  readonly #systemTexts: string[] = [];
  /** Also true for a prompt without text, which no context shows. */
  #hasPrompt = false;
  /** There was something besides the prompt that a context shows. */
  #isOpened = false;
  readonly #lateResults = new LateResults();
  readonly #batches = new CallBatches((callId) => this.#lateResults.knows(callId));
  /** Time of the last item that had one, in seconds. */
  #ts: number | null = null;
  readonly #unanswered = new UnansweredCalls();
  /** Ids of messages, with a digest of each: a transcript that was replayed contains everything twice. */
  readonly #ids = new IdTable();
  readonly #contents = NumberColumn.offsets();
  #replayed = 0;
  /** The last number used in each turn: late results continue from it. */
  readonly #lastSeq = new Map<number, number>();
  #messages = 0;
  #answers = 0;
  /** Prefix of ids for answers without one: the same when an interrupted import continues. */
  readonly #token: string;
  readonly #renaming = new CallIdRenaming();

  /**
   * @param firstTs time for items before the first one with a time, if the transcript was read before
   * @param token unique to this import
   */
  constructor(nowMs: () => number, firstTs: number | null = null, token: string = newId('import', nowMs())) {
    this.#nowMs = nowMs;
    this.#ts = firstTs;
    this.#token = token;
  }

  get messages(): number {
    return this.#messages;
  }

  /** Messages that were repeated under the same id with the same content. */
  get replayed(): number {
    return this.#replayed;
  }

  get turns(): number {
    return this.#turn;
  }

  /** Calls that the transcript leaves open; their outcome is unknown. */
  openCalls(): LedgerCall[] {
    return this.#unanswered.all();
  }

  rowsOf(item: TranscriptItem): JsonObject[] {
    if (isTime(item.ts)) this.#ts = item.ts;
    if (item.kind === 'compaction') {
      const kept = item.messages.map((message) => this.#renaming.next({ ...message, imported: true }));
      return [...this.end(), this.#row(0, this.#compaction(kept))];
    }
    this.#messages += 1;
    const message = this.#withOwnId({ ...item.message, imported: true });
    if (message)
      return inTheirRoles(message).flatMap((part) =>
        this.#rowsOfPart(this.#renaming.next(knownRoles.mend(part, () => {})!)),
      );
    this.#replayed += 1;
    return [];
  }

  /** Rows of messages that still wait for the rest of their batch. */
  end(): JsonObject[] {
    return this.#rowsOfAll(this.#batches.end());
  }

  #rowsOfPart(message: Message): JsonObject[] {
    if (message.role === 'system') return this.#system(message);
    this.#isOpened ||= mendMessage(message) !== null;
    return this.#rowsOfAll(this.#batches.add({ message, ts: this.#ts }));
  }

  /** Each message with its own time. */
  #rowsOfAll(dated: readonly DatedMessage[]): JsonObject[] {
    const now = this.#ts;
    const rows = dated.flatMap(({ message, ts }) => {
      this.#ts = ts;
      return this.#rowsOfMessage(message);
    });
    this.#ts = now;
    return rows;
  }

  /** Null for a replay. A different message with a used id loses the id. */
  #withOwnId(message: Message): Message | null {
    const { messageId, ...rest } = message;
    if (messageId === undefined) return message;
    const digest = digestOf({ ...rest, turnId: '' }); // in whichever turn it was recorded
    const before = this.#ids.size;
    const number = this.#ids.numberOf(messageId.toWellFormed());
    if (number === before) this.#contents.push(digest);
    else if (number >= 0) return this.#contents.at(number) === digest ? null : rest;
    return message;
  }

  #rowsOfMessage(message: Message): JsonObject[] {
    switch (message.role) {
      case 'assistant':
        return this.#answer(message);
      case 'tool':
        return this.#result(message);
      default:
        return this.#user(message);
    }
  }

  /** As in H2: several system messages at the head are one prompt; a later one with another text becomes a note in its place. */
  #system(message: Message): JsonObject[] {
    if (!mendMessage(message)) return [];
    const text = textOf(message).toWellFormed();
    if (this.#isOpened && this.#hasPrompt) {
      if (text === this.#systemPrompt) return [];
      const before = this.end();
      this.#lateResults.said(message);
      return [...before, this.#note({ ...message, role: 'user' }, 'SystemNote')];
    }
    this.#hasPrompt = true;
    if (isBlankText(text) || this.#systemTexts.includes(text)) return [];
    this.#systemTexts.push(text);
    const boundary: Boundary = { kind: 'system', systemPrompt: this.#systemPrompt };
    return [this.#row(0, boundaryBody(boundary, SOURCE_EVENT))];
  }

  /** From the user's side, but not a request of the user: it starts no turn. */
  #note(message: Message, sourceEvent: string): JsonObject {
    return this.#row(this.#turn, { type: 'user', message, sourceEvent });
  }

  get #systemPrompt(): string {
    return this.#systemTexts.join('\n\n');
  }

  #user(message: Message): JsonObject[] {
    if (message.kind === undefined || this.#turn === 0) this.#beginTurn();
    this.#lateResults.said(message);
    return [this.#row(this.#turn, { type: 'user', message, sourceEvent: SOURCE_EVENT })];
  }

  #answer(message: Message): JsonObject[] {
    if (this.#turn === 0) this.#beginTurn();
    this.#lateResults.said(message);
    this.#answers += 1;
    const messageId = message.messageId ?? `msg_${this.#token}_${this.#answers}`;
    const { toolPayload, ...said } = message;
    const calls = toolCallsOf(message);
    const unfinished = unfinishedCalls(message); // never sent
    for (const call of calls)
      if (!unfinished.includes(call)) this.#unanswered.add(call, formatTurnId(this.#turn));
    const called = callBodies(calls, messageId);
    const answer: TraceBody = {
      type: 'assistant',
      message: { ...said, messageId },
      sourceEvent: SOURCE_EVENT,
    };
    const blank = isBlankMessage(said);
    // Content that is not a message by itself joins its calls, which therefore come first.
    const joins = blank && belongsToCalls(said) ? [answer] : [];
    const bodies = blank ? [...called, ...joins] : [answer, ...called];
    const unpaired = toolPayload && !isToolCallPayload(toolPayload) ? this.#result(message) : [];
    return [...bodies.map((body) => this.#row(this.#turn, body)), ...unpaired];
  }

  #result(message: Message): JsonObject[] {
    const result = toolResultOf(message);
    if (!result) return this.#user({ ...message, role: 'user' });
    const note = this.#lateResults.noteOf(message);
    if (note) return [this.#note(note, 'LateResult')];
    const call = this.#unanswered.answer(result.toolCallId);
    const turn = turnNumber(call?.turnId) || this.#turn;
    const { parts, synthetic } = message;
    const body: TraceBody = {
      type: 'tool_result',
      result,
      sourceEvent: SOURCE_EVENT,
      ...(parts ? { parts } : {}),
      ...(synthetic ? { synthetic } : {}),
    };
    return [this.#row(turn, body)];
  }

  #compaction(messages: readonly Message[]): TraceBody {
    this.#epoch += 1;
    this.#unanswered.keepOnly(messages);
    this.#lateResults.keepOnly(messages);
    this.#isOpened = true;
    const systemPrompt = this.#systemPrompt;
    const system: Message[] = systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }];
    return {
      type: 'compaction',
      sourceEvent: SOURCE_EVENT,
      epochId: this.#epoch,
      lastCompactionTs: this.#timeMs() / 1000,
      lastTurn: this.#turn,
      messages: [...system, ...messages],
      episodic: [],
      semantic: [],
    };
  }

  #beginTurn(): void {
    this.#turn += 1;
    this.#turnSeq = 0;
  }

  #row(turn: number, body: TraceBody): JsonObject {
    const nowMs = this.#timeMs();
    const trace = {
      id: newId('rt', nowMs),
      ts: nowMs / 1000,
      turnId: turn === 0 ? '' : formatTurnId(turn),
      seq: this.#seqIn(turn),
      ...body,
    } as Trace;
    return toJsonValue(traceToJson(trace)).value as JsonObject;
  }

  #seqIn(turn: number): number {
    if (turn === this.#turn) this.#turnSeq += 1;
    const seq = turn === this.#turn ? this.#turnSeq : (this.#lastSeq.get(turn) ?? 0) + 1;
    this.#lastSeq.set(turn, seq);
    if (this.#lastSeq.size > 1000) this.#lastSeq.delete(this.#lastSeq.keys().next().value!);
    return seq;
  }

  /** A transcript without times is dated now. */
  #timeMs(): number {
    return this.#ts === null ? this.#nowMs() : Math.round(this.#ts * 1000);
  }
}

export function isTime(ts: number | undefined): ts is number {
  return ts !== undefined && ts >= 0 && ts <= TIME_MAX;
}

/** Reasoning, the end status, and the origin: a signature is sent back only to its own model. */
function belongsToCalls(said: Message): boolean {
  const { reasoning, reasoningContent, parts, status, extra, origin } = said;
  return [reasoning, reasoningContent, parts, status, extra, origin].some((field) => field !== undefined);
}

/** 48 bits: enough to tell two messages of one id apart, and small enough for a column of numbers. */
function digestOf(message: Message): number {
  const text = JSON.stringify(messageToJson(message));
  return Number.parseInt(createHash('sha256').update(text).digest('hex').slice(0, 12), 16);
}
