/** Passages: the indexed pieces of the past, and how a trace is cut into them. Pure: the same trace gives the same passages. */
import {
  type Message,
  resultText,
  type ToolCallSpec,
  type ToolResultPayload,
  textOf,
  toolCallsOf,
  toolResultOf,
} from '../../messages/message.js';
import type { Trace } from '../models/trace.js';

export const SPEAKERS = ['user', 'assistant', 'call', 'tool', 'memory'] as const;
/** Who wrote it: the user, the model, the model in a tool call, a tool in its result, or an imported summary. */
export type Speaker = (typeof SPEAKERS)[number];

/** An indexed piece of the past. */
export interface Passage {
  /** The number of its trace in the journal, and its position among the passages of that trace. */
  readonly seq: number;
  readonly piece: number;
  readonly turnId: string;
  /** Seconds since 1970. */
  readonly ts: number;
  readonly speaker: Speaker;
  /** For calls and results; null otherwise. */
  readonly toolName: string | null;
  readonly text: string;
}

/** Its time in UTC (ISO 8601); null for an invalid time. */
export function timeOf({ ts }: Pick<Passage, 'ts'>): string | null {
  const time = new Date(ts * 1000);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** Approximate maximum length of a passage in characters: long enough to be understood alone, short enough that many fit. */
const PASSAGE_CHARS = 600;
/** Maximum passages per trace, about 9 MB; the rest is not indexed. */
const PIECES_MAX = 16_000;
/** Where a long text is best cut, best first. */
const BREAKS = [/\n\s*\n/g, /\n/g, /[.!?。！？]\s*/g, /\s+/g];

/** @param wholeResult the text of a result that was stored separately */
export function passagesOf(trace: Trace, seq: number, wholeResult?: string): Passage[] {
  const said = saidIn(trace, wholeResult);
  const passages: Passage[] = [];
  for (const { speaker, toolName, text } of said)
    for (const part of splitText(text)) {
      if (passages.length === PIECES_MAX) return passages;
      const { turnId, ts } = trace;
      passages.push({ seq, piece: passages.length, turnId, ts, speaker, toolName, text: part });
    }
  return passages;
}

type Said = Pick<Passage, 'speaker' | 'toolName' | 'text'>;

function saidIn(trace: Trace, wholeResult?: string): Said[] {
  switch (trace.type) {
    case 'user':
    case 'assistant':
      return saidInMessage(trace.message);
    case 'tool_call':
      return [saidInCall(trace.call)];
    case 'tool_result':
      return [saidInResult(trace.result, wholeResult)];
    case 'boundary':
      // A context that was set as a whole: its messages may have no traces.
      return trace.boundary.kind === 'base' ? trace.boundary.messages.flatMap(saidInMessage) : [];
    default:
      return [];
  }
}

function saidInMessage(message: Message): Said[] {
  if (message.role === 'system' || message.kind === 'recall') return [];
  const result = toolResultOf(message);
  if (result) return [saidInResult(result)];
  const calls = toolCallsOf(message).map(saidInCall);
  if (message.kind === 'memory') return [{ speaker: 'memory', toolName: null, text: textOf(message) }];
  const speaker = message.role === 'assistant' ? 'assistant' : 'user';
  return [{ speaker, toolName: null, text: textOf(message) }, ...calls];
}

function saidInCall(call: ToolCallSpec): Said {
  return { speaker: 'call', toolName: call.name, text: callText(call) };
}

function saidInResult(result: ToolResultPayload, whole?: string): Said {
  return { speaker: 'tool', toolName: result.toolName, text: whole ?? resultText(result) };
}

/** The arguments of a call as readable text: a single text is shown unchanged. */
export function callText({ arguments: args }: ToolCallSpec): string {
  if (typeof args === 'string') return args;
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return JSON.stringify(args) ?? '';
  return Object.entries(args)
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}

/** The text in order, in pieces; a full piece is cut at a paragraph, line, sentence or word, in this order of preference. */
export function splitText(text: string): string[] {
  const trimmed = text.trim();
  if (trimmed === '') return [];
  const pieces: string[] = [];
  let from = 0;
  while (from < trimmed.length && pieces.length < PIECES_MAX) {
    const to = trimmed.length - from <= PASSAGE_CHARS ? trimmed.length : from + cutIn(trimmed, from);
    const piece = trimmed.slice(from, to).trim();
    if (piece !== '') pieces.push(piece.toWellFormed());
    from = to;
  }
  return pieces;
}

/** The length of the piece that starts here. */
function cutIn(text: string, from: number): number {
  const window = text.slice(from, from + PASSAGE_CHARS);
  for (const pattern of BREAKS) {
    let end = 0;
    for (const match of window.matchAll(pattern)) end = match.index + match[0].length;
    if (end > PASSAGE_CHARS / 2) return end;
  }
  const last = window.charCodeAt(window.length - 1);
  return last >= 0xd800 && last < 0xdc00 ? window.length - 1 : window.length;
}
