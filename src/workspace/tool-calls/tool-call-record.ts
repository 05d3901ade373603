/**
 * One tool call, as the log stores it.
 *
 *     {"call_id":"c1","agent":"analyst","turn_id":"turn_0001","tool":"search","started_at":"...","duration_ms":12,"input":{...},"output":[...]}
 *
 * Large inputs and outputs are stored by their digest: `input_ref`, `output_ref`.
 */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import { dayOf } from './call-chunks.js';

/** A tool call to record. */
export interface ToolCallEntry {
  readonly callId: string;
  readonly tool: string;
  readonly agent: string;
  /** Empty outside a turn. */
  readonly turnId?: string;
  readonly session?: string;
  readonly input: JsonValue;
  /** Null if the call failed. */
  readonly output: JsonValue;
  /** Null if the call succeeded. */
  readonly error: string | null;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly durationMs: number;
}

/** A recorded tool call. */
export interface ToolCallRecord extends Required<Omit<ToolCallEntry, 'session' | 'startedMs'>> {
  readonly session: string | null;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly status: 'ok' | 'error';
  /** `sha256:` references of values that are too large for the log; `input` or `output` is then null. */
  readonly inputRef: string | null;
  readonly outputRef: string | null;
}

/** A validated call, serialized when it was recorded: later changes by the caller have no effect. */
export interface PreparedCall {
  readonly day: string;
  readonly head: JsonObject;
  readonly input: string;
  /** Null if the call failed. */
  readonly output: string | null;
  readonly error: string | null;
}

/** Stores a large value outside of the log. */
export type Offload = (text: string) => Promise<string | null>;

/** The end of the year 9999: the names of later days would not sort correctly. */
const STARTED_MS_MAX = 253_402_300_799_999;

/**
 * Also refuses a call that could not be found again: without an id, a tool or an agent. @throws
 * INVALID_ARGUMENT
 */
export function prepareCall(entry: ToolCallEntry): PreparedCall {
  const { startedMs, durationMs, error } = entry;
  for (const field of ['callId', 'tool', 'agent'] as const)
    if (typeof entry[field] !== 'string') throw invalid(field);
  if (error !== null && typeof error !== 'string') throw invalid('error');
  if (!(startedMs >= 0 && startedMs <= STARTED_MS_MAX)) throw invalid('startedMs');
  if (!Number.isFinite(durationMs)) throw invalid('durationMs');
  return {
    day: dayOf(startedMs),
    head: {
      call_id: entry.callId,
      agent: entry.agent,
      ...(entry.session === undefined ? {} : { session: entry.session }),
      turn_id: entry.turnId ?? '',
      tool: entry.tool,
      started_at: new Date(startedMs).toISOString(),
      duration_ms: Math.round(durationMs * 10) / 10,
    },
    input: textOf('input', entry.input),
    output: error === null ? textOf('output', entry.output) : null,
    error,
  };
}

function textOf(field: 'input' | 'output', value: JsonValue): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw invalid(field, cause);
  }
  if (text === undefined) throw invalid(field);
  return text;
}

function invalid(field: string, cause?: unknown): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `A call cannot be logged with this ${field}.`, {
    details: { field },
    ...(cause === undefined ? {} : { cause }),
  });
}

export async function encodeCall(call: PreparedCall, offload: Offload): Promise<JsonObject> {
  return {
    ...call.head,
    ...(await placed('input', call.input, offload)),
    ...(call.output === null ? {} : await placed('output', call.output, offload)),
    ...(call.error === null ? {} : { error: call.error }),
  };
}

async function placed(field: 'input' | 'output', text: string, offload: Offload): Promise<JsonObject> {
  const ref = await offload(text);
  return ref === null ? { [field]: JSON.parse(text) as JsonValue } : { [`${field}_ref`]: ref };
}

/** Null for a row of another shape. */
export function decodeCall(row: JsonObject): ToolCallRecord | null {
  const { call_id: callId, agent, tool, started_at: startedAt, duration_ms: durationMs } = row;
  if (typeof callId !== 'string' || typeof agent !== 'string' || typeof tool !== 'string') return null;
  if (typeof startedAt !== 'string' || typeof durationMs !== 'number') return null;
  const error = text(row['error']);
  return {
    callId,
    agent,
    tool,
    startedAt,
    durationMs,
    turnId: text(row['turn_id']) ?? '',
    session: text(row['session']),
    input: row['input'] ?? null,
    output: row['output'] ?? null,
    error,
    status: error === null ? 'ok' : 'error',
    inputRef: text(row['input_ref']),
    outputRef: text(row['output_ref']),
  };
}

function text(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
