/**
 * One call of a tool, as the log holds it.
 *
 *     {"call_id":"c1","agent":"analyst","turn_id":"turn_0001","tool":"search","started_at":"...","duration_ms":12,"input":{...},"output":[...]}
 *
 * Large inputs and outputs are stored by their digest: `input_ref`, `output_ref`.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.js';

export interface ToolCallEntry {
  readonly callId: string;
  readonly tool: string;
  readonly agent: string;
  /** Empty outside a turn. */
  readonly turnId?: string;
  readonly session?: string;
  readonly input: JsonValue;
  /** Null when the call failed. */
  readonly output: JsonValue;
  /** Null when it did not fail. */
  readonly error: string | null;
  /** Milliseconds since 1970. */
  readonly startedMs: number;
  readonly durationMs: number;
}

export interface ToolCallRecord extends Required<Omit<ToolCallEntry, 'session' | 'startedMs'>> {
  readonly session: string | null;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
  readonly status: 'ok' | 'error';
  /** `sha256:` references of what was too large for the log; `input` or `output` is null then. */
  readonly inputRef: string | null;
  readonly outputRef: string | null;
}

/** Stores a value beside the log when it is large. */
export type Offload = (text: string) => Promise<string | null>;

export async function encodeCall(entry: ToolCallEntry, offload: Offload): Promise<JsonObject> {
  return {
    call_id: entry.callId,
    agent: entry.agent,
    ...(entry.session === undefined ? {} : { session: entry.session }),
    turn_id: entry.turnId ?? '',
    tool: entry.tool,
    started_at: new Date(entry.startedMs).toISOString(),
    duration_ms: Math.round(entry.durationMs * 10) / 10,
    ...(await placed('input', entry.input, offload)),
    ...(entry.error === null ? await placed('output', entry.output, offload) : { error: entry.error }),
  };
}

async function placed(field: 'input' | 'output', value: JsonValue, offload: Offload): Promise<JsonObject> {
  const ref = await offload(JSON.stringify(value));
  return ref === null ? { [field]: value } : { [`${field}_ref`]: ref };
}

/** Null for a row of another shape. */
export function decodeCall(row: JsonObject): ToolCallRecord | null {
  const { call_id: callId, agent, tool, started_at: startedAt, duration_ms: durationMs } = row;
  if (typeof callId !== 'string' || typeof agent !== 'string' || typeof tool !== 'string') return null;
  if (typeof startedAt !== 'string' || typeof durationMs !== 'number' || !isJsonObject(row)) return null;
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
