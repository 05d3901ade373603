/**
 * The reducer: one trace changes the state. Live agents and restored ones use only this function, so their states
 * cannot differ. No I/O, no clock, no randomness.
 *
 * Every message in the list is legal by itself (`mendMessage`); the trace keeps the original. So the list of a live
 * agent is the one that a restore gives, and no request contains what a provider would reject.
 */
import { canonicalJson } from '../core/canonical-json.js';
import { turnNumber } from '../core/ids.js';
import { OPENING_USER } from '../messages/legality/h3-opens-with-user.js';
import { isReplay } from '../messages/legality/h14-distinct-message-ids.js';
import { mendMessage } from '../messages/legality/history.js';
import type { Note } from '../messages/legality/rule.js';
import {
  hasMedia,
  isBlankMessage,
  isBlankText,
  type Message,
  type ToolCallSpec,
  textOf,
  toolCallsOf,
  toolResultOf,
} from '../messages/message.js';
import type {
  Boundary,
  CompactionTrace,
  MessageTrace,
  ToolCallTrace,
  ToolResultTrace,
  Trace,
} from './models/trace.js';
import { isResponse, type ResultPlacement, WorkingContextSnapshot } from './working-context-snapshot.js';

export interface MemoryState {
  readonly snapshot: WorkingContextSnapshot;
  /** The highest turn number seen or started. */
  lastTurn: number;
  /** The turn of the last trace, and that trace's `seq`: the next trace of the turn continues from it. */
  turnId: string;
  turnSeq: number;
  /** Compactions refused since the last one that succeeded. */
  compactionFailures: number;
}

export function emptyMemoryState(): MemoryState {
  return {
    snapshot: new WorkingContextSnapshot(),
    lastTurn: 0,
    turnId: '',
    turnSeq: 0,
    compactionFailures: 0,
  };
}

const QUIET: Note = () => {};

/**
 * The placement of a result; null for other traces.
 * @param note called for everything that had to be fixed
 */
export function applyTrace(state: MemoryState, trace: Trace, note: Note = QUIET): ResultPlacement | null {
  if (trace.turnId !== '') {
    state.lastTurn = Math.max(state.lastTurn, turnNumber(trace.turnId));
    state.turnSeq = trace.turnId === state.turnId ? Math.max(state.turnSeq, trace.seq) : trace.seq;
    state.turnId = trace.turnId;
  }
  switch (trace.type) {
    case 'user':
    case 'recall':
      append(state.snapshot, trace.message, note);
      return null;
    case 'assistant':
      applyAnswer(state.snapshot, trace, note);
      return null;
    case 'tool_call':
      applyCall(state.snapshot, trace, note);
      return null;
    case 'tool_result':
      return state.snapshot.placeToolResult(mendMessage(resultMessage(trace), note)!);
    case 'compaction':
      applyCompaction(state, trace);
      return null;
    case 'boundary':
      applyBoundary(state, trace.boundary);
      return null;
    case 'journal':
    case 'foreign':
      return null;
  }
}

/**
 * The messages that traces add to a context, oldest first: what was said and recalled, the calls, and each result behind its call.
 *
 * The traces may begin anywhere, as those of `MemoryManager.getRawTail` do. So records about the list itself (compactions, boundaries)
 * add nothing: their positions are those of the whole list. As in a restore, a call without a result stays open, a result without its call
 * is left out, and a list that begins with an answer gets a user message before it. Pure; the messages share what the traces hold.
 * ```ts
 * const messages = messagesOfTraces(await memory.getRawTail(4));
 * ```
 */
export function messagesOfTraces(traces: Iterable<Trace>): Message[] {
  const state = emptyMemoryState();
  for (const trace of traces) if (!isAboutTheList(trace)) applyTrace(state, trace);
  return state.snapshot.buildMessages();
}

function isAboutTheList({ type }: Trace): boolean {
  return type === 'compaction' || type === 'boundary';
}

/** Index of the newest assistant message, skipping results. -1 if another message comes first. */
function lastAnswerIndex(snapshot: WorkingContextSnapshot): number {
  const { messages } = snapshot;
  let index = messages.length - 1;
  while (index >= 0 && messages[index]!.role === 'tool') index -= 1;
  return index >= 0 && messages[index]!.role === 'assistant' ? index : -1;
}

/** Index of the message of a response of the turn, skipping user messages in between. -1 if it is not there. */
function responseIndex(
  snapshot: WorkingContextSnapshot,
  messageId: string | undefined,
  turnId: string,
): number {
  if (messageId === undefined) return -1;
  for (let index = snapshot.length - 1; index >= 0; index -= 1) {
    const message = snapshot.messages[index]!;
    if (isResponse(message, messageId)) return index;
    if (message.role === 'user' && message.turnId !== turnId) return -1;
  }
  return -1;
}

/** A conversation that a model opens gets a user message before it, because providers require one. */
function append(snapshot: WorkingContextSnapshot, message: Message, note: Note): void {
  const mended = mendMessage(message, note);
  if (!mended) return;
  const opens = snapshot.length === systemOf(snapshot).length;
  if (opens && mended.role === 'assistant') snapshot.appendMessage(OPENING_USER);
  const own = withFreeId(snapshot, mended, note);
  if (own) snapshot.appendMessage(own);
}

/** A message that is already there under its id (sent again by a host) is not added again; a different one loses the id. */
function withFreeId(snapshot: WorkingContextSnapshot, message: Message, note: Note): Message | null {
  const { messageId, ...rest } = message;
  if (messageId === undefined || !snapshot.hasMessageId(messageId)) return message;
  const known = snapshot.messages.find((other) => other.messageId === messageId);
  const replayed = known !== undefined && isReplay(known, message);
  const reason = `the message id ${JSON.stringify(messageId)} is there already`;
  note(replayed ? 'drop-replayed-duplicate' : 'drop-repeated-message-id', reason);
  return replayed ? null : rest;
}

/**
 * A blank answer makes no message, because no provider would accept it. An answer that comes after its own calls, as
 * AutoByteus writes it, adds its text and reasoning to them.
 */
function applyAnswer(snapshot: WorkingContextSnapshot, trace: MessageTrace, note: Note): void {
  const { message } = trace;
  const own = responseIndex(snapshot, message.messageId, trace.turnId);
  if (own >= 0) {
    amend(snapshot, own, message, note);
    return;
  }
  const index = lastAnswerIndex(snapshot);
  const previous = snapshot.messages[index];
  if (previous && belongsToCalls(snapshot, previous, index, message)) {
    if (!isBlankMessage(message)) amend(snapshot, index, message, note);
    return;
  }
  if (!isBlankMessage(message)) append(snapshot, message, note);
}

function amend(snapshot: WorkingContextSnapshot, index: number, message: Message, note: Note): void {
  const mended = mendMessage(saidAnew(snapshot.messages[index]!, message), note);
  if (mended) snapshot.amendMessage(index, mended);
}

/** Keeps the calls, and keeps earlier content that this message does not replace. */
function saidAnew(before: Message, message: Message): Message {
  const { content, parts, status, ...rest } = before;
  const says = !isBlankText(textOf(message)) || hasMedia(message);
  const said = !isBlankText(textOf(before)) || hasMedia(before);
  if (says || !said) return { ...rest, ...message };
  return { ...rest, ...message, content, ...(parts ? { parts } : {}), ...(status ? { status } : {}) };
}

function belongsToCalls(
  snapshot: WorkingContextSnapshot,
  previous: Message,
  index: number,
  message: Message,
): boolean {
  const unnamed = previous.messageId === undefined && message.messageId === undefined;
  const answered = index < snapshot.length - 1;
  const bare = previous.content === null && toolCallsOf(previous).length > 0;
  return unnamed && bare && !answered && previous.turnId === message.turnId;
}

/** Calls of one response form one message. Without a response id, consecutive calls of one turn do. */
function applyCall(snapshot: WorkingContextSnapshot, trace: ToolCallTrace, note: Note): void {
  const index = lastAnswerIndex(snapshot);
  const previous = snapshot.messages[index];
  const own = responseIndex(snapshot, trace.messageId, trace.turnId);
  const inARow =
    trace.messageId === undefined &&
    previous !== undefined &&
    previous.messageId === undefined &&
    previous.turnId === trace.turnId &&
    toolCallsOf(previous).length > 0 &&
    index === snapshot.length - 1;
  const message: Message = {
    role: 'assistant',
    content: null,
    toolPayload: { toolCalls: [trace.call] },
    ...(trace.messageId === undefined ? {} : { messageId: trace.messageId }),
    turnId: trace.turnId,
  };
  const mended = mendMessage(message, note)!;
  if (own >= 0) addCall(snapshot, own, mended, note);
  else if (inARow) addCall(snapshot, index, mended, note);
  else append(snapshot, mended, note);
}

/** A call that its response already has was sent again; a different one with its id gets its own message (H7). */
function addCall(snapshot: WorkingContextSnapshot, index: number, message: Message, note: Note): void {
  const call = toolCallsOf(message)[0]!;
  const known = toolCallsOf(snapshot.messages[index]!).find(({ id }) => id === call.id);
  if (!known) snapshot.addToolCall(index, call);
  else if (!isSameCall(known, call)) append(snapshot, message, note);
  else note('drop-replayed-duplicate', `its response has the call ${call.id} already`, call.id);
}

function isSameCall(a: ToolCallSpec, b: ToolCallSpec): boolean {
  return canonicalJson(a as never) === canonicalJson(b as never);
}

function resultMessage(trace: ToolResultTrace): Message {
  return {
    role: 'tool',
    content: null,
    toolPayload: trace.result,
    ...(trace.parts?.length ? { parts: trace.parts } : {}),
    ...(trace.turnId === '' ? {} : { turnId: trace.turnId }),
    ...(trace.synthetic ? { synthetic: true } : {}),
  };
}

function applyCompaction(state: MemoryState, trace: CompactionTrace): void {
  const { snapshot } = state;
  snapshot.epochId = trace.epochId;
  snapshot.lastCompactionTs = trace.lastCompactionTs;
  snapshot.replaceAll(trace.messages);
  state.lastTurn = Math.max(state.lastTurn, trace.lastTurn);
  state.compactionFailures = 0;
}

function applyBoundary(state: MemoryState, boundary: Boundary): void {
  const { snapshot } = state;
  switch (boundary.kind) {
    case 'system':
      setSystemPrompt(snapshot, boundary.systemPrompt);
      return;
    case 'base':
      snapshot.epochId = boundary.epochId;
      snapshot.lastCompactionTs = boundary.lastCompactionTs;
      snapshot.replaceAll(boundary.messages);
      state.lastTurn = Math.max(state.lastTurn, boundary.lastTurn);
      state.compactionFailures = 0; // they were about another context, and a rebuild from here does not know them either
      return;
    case 'repair': {
      const { messages } = snapshot;
      const { at, deleteCount, insert } = boundary;
      // Not by `splice`: a long repair has too many arguments for one call.
      snapshot.replaceAll([...messages.slice(0, at), ...insert, ...messages.slice(at + deleteCount)]);
      return;
    }
    case 'edit':
      for (const { at, message } of boundary.edits) snapshot.amendMessage(at, message);
      return;
    case 'compaction_failed':
      state.compactionFailures += 1;
  }
}

function systemOf(snapshot: WorkingContextSnapshot): Message[] {
  const first = snapshot.messages[0];
  return first?.role === 'system' ? [first] : [];
}

/** The text of the system message at the head; empty if there is none. */
export function systemPromptOf(snapshot: WorkingContextSnapshot): string {
  return systemOf(snapshot).map(textOf).join('');
}

/** Sets, changes or (with empty text) removes the one system message at the head. */
export function setSystemPrompt(snapshot: WorkingContextSnapshot, systemPrompt: string): void {
  const head = systemOf(snapshot);
  if (head[0]?.content === systemPrompt) return;
  const system: Message[] = systemPrompt === '' ? [] : [{ role: 'system', content: systemPrompt }];
  snapshot.replaceAll([...system, ...snapshot.messages.slice(head.length)]);
}

/** How a conversation stopped: finished, waiting for the model, or with calls without results. */
export type FrontierKind = 'idle' | 'awaiting_assistant' | 'interrupted_tools';

/** Where the conversation stopped. */
export interface Frontier {
  readonly kind: FrontierKind;
  readonly turnId: string | null;
  /** Open calls, if tools were interrupted. */
  readonly callIds: readonly string[];
}

export function frontierOf(snapshot: WorkingContextSnapshot): Frontier {
  const open = snapshot.openCalls();
  if (open.length > 0) {
    const last = open[open.length - 1]!;
    return {
      kind: 'interrupted_tools',
      turnId: last.turnId ?? null,
      callIds: open.map(({ call }) => call.id),
    };
  }
  const last = snapshot.messages[snapshot.length - 1];
  const waiting =
    last !== undefined &&
    (toolResultOf(last) !== null ||
      (last.role === 'user' && last.kind === undefined) ||
      (last.role === 'assistant' && last.status === 'failed'));
  return { kind: waiting ? 'awaiting_assistant' : 'idle', turnId: last?.turnId ?? null, callIds: [] };
}
