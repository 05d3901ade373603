/** The tools with which an agent finds what left its context, and reads around it. Whose past it is, is bound here. */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import { inputObject, type ToolDefinition } from '../../core/tool-definition.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { Passage, Speaker } from '../recall/passage.js';
import { type PastQuery, readAround, readTurns, searchAgent } from '../recall/search-agent.js';

export interface SearchToolOptions {
  readonly backend: StorageBackend;
  /** Whose past is searched. No argument of a call names another agent. */
  readonly agentId: string;
  /** Default: the system's. */
  readonly nowMs?: () => number;
}

const RESULTS_MAX = 50;
const OFFSET_MAX = 1_000;
/** Records around one, on either side. */
const AROUND_MAX = 50;
const AROUND_DEFAULT = 4;
const TURNS_MAX = 20;
/** Of one answer of `memory_read`, in characters. */
const READ_CHARS_MAX = 20_000;

/** What a model names as speakers, and what they are here. */
const SPEAKERS: Readonly<Record<string, readonly Speaker[]>> = {
  user: ['user'],
  assistant: ['assistant', 'call'],
  tool: ['tool'],
};

export function searchTools(options: SearchToolOptions): ToolDefinition[] {
  return [searchTool(options), readTool(options)];
}

function searchTool({ backend, agentId, nowMs = Date.now }: SearchToolOptions): ToolDefinition {
  return {
    name: 'memory_search',
    description:
      'Finds what was said, done and answered in your own past, also long ago. Best match first: ask in plain words, with names and terms. Times ("last week") count. `memory_read` reads around a result by its `record`.',
    inputSchema: inputObject(
      {
        query: { type: 'string', pattern: '\\S', maxLength: 500, description: 'What to look for.' },
        limit: { type: 'integer', minimum: 1, maximum: RESULTS_MAX, description: 'Default 10.' },
        offset: {
          type: 'integer',
          minimum: 0,
          maximum: OFFSET_MAX,
          description: '`next_offset` of the page before.',
        },
        speaker: { type: 'string', enum: Object.keys(SPEAKERS), description: 'Only what this one said.' },
        tool: { type: 'string', maxLength: 200, description: 'Only calls and results of this tool.' },
        since: { type: 'string', maxLength: 40, description: 'Only from this time on, such as 2026-05-31.' },
        until: { type: 'string', maxLength: 40, description: 'Only before this time.' },
      },
      ['query'],
    ),
    idempotent: true,
    execute: async (args) => {
      const page = await searchAgent(backend, agentId, queryOf(args, nowMs()));
      return {
        results: page.hits.map(({ passage }) => passageJson(passage)),
        next_offset: page.nextOffset,
        searched_passages: page.searched,
      };
    },
  };
}

function queryOf(args: JsonObject, nowMs: number): PastQuery {
  const { query, limit, offset, speaker, tool, since, until } = args;
  const speakers = typeof speaker === 'string' ? SPEAKERS[speaker] : undefined;
  return {
    text: String(query),
    nowMs,
    ...(typeof limit === 'number' ? { limit } : {}),
    ...(typeof offset === 'number' ? { offset } : {}),
    ...(speakers ? { speakers } : {}),
    ...(typeof tool === 'string' ? { toolName: tool } : {}),
    ...(since === undefined ? {} : { fromMs: momentOf('since', since) }),
    ...(until === undefined ? {} : { toMs: momentOf('until', until) }),
  };
}

/** @throws INVALID_ARGUMENT */
function momentOf(field: string, value: JsonValue | undefined): number {
  const moment = Date.parse(String(value));
  if (!Number.isNaN(moment)) return moment;
  const text = `\`${field}\` is no time. Write it like 2026-05-31 or 2026-05-31T12:00:00Z.`;
  throw new RekindleError('INVALID_ARGUMENT', text, { details: { field, value: value ?? null } });
}

function readTool({ backend, agentId }: SearchToolOptions): ToolDefinition {
  return {
    name: 'memory_read',
    description:
      'Reads your own past in order: around a `record` that memory_search found, or whole turns by their numbers.',
    inputSchema: inputObject({
      record: { type: 'integer', minimum: 1, description: 'Of a result of memory_search.' },
      before: {
        type: 'integer',
        minimum: 0,
        maximum: AROUND_MAX,
        description: 'Records before it. Default 4.',
      },
      after: {
        type: 'integer',
        minimum: 0,
        maximum: AROUND_MAX,
        description: 'Records after it. Default 4.',
      },
      from_turn: { type: 'integer', minimum: 1, description: 'First turn.' },
      to_turn: { type: 'integer', minimum: 1, description: 'Last turn. Default: the first.' },
    }),
    idempotent: true,
    execute: async (args) => shortened(await passagesFor(backend, agentId, args)),
  };
}

function passagesFor(backend: StorageBackend, agentId: string, args: JsonObject): Promise<Passage[]> {
  const { record, from_turn: fromTurn, to_turn: toTurn } = args;
  if (typeof record === 'number') {
    const fromRecord = record - numberOr(args['before'], AROUND_DEFAULT);
    return readAround(backend, agentId, {
      fromRecord,
      toRecord: record + numberOr(args['after'], AROUND_DEFAULT),
    });
  }
  if (typeof fromTurn !== 'number') {
    const text = 'Give `record`, or `from_turn`.';
    throw new RekindleError('INVALID_ARGUMENT', text, { details: { field: 'record' } });
  }
  const last = Math.min(numberOr(toTurn, fromTurn), fromTurn + TURNS_MAX - 1);
  return readTurns(backend, agentId, { fromTurn, toTurn: last });
}

function numberOr(value: JsonValue | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

/** As much as one answer takes; `next_record` says where the rest begins. */
function shortened(passages: readonly Passage[]): JsonObject {
  const shown: JsonObject[] = [];
  let room = READ_CHARS_MAX;
  let rest: number | null = null;
  for (const passage of passages) {
    room -= passage.text.length;
    if (room < 0 && shown.length > 0) {
      rest = passage.seq;
      break;
    }
    shown.push(passageJson(passage));
  }
  return { passages: shown, next_record: rest };
}

/** `at` in UTC. */
export function passageJson({ seq, turnId, ts, speaker, toolName, text }: Passage): JsonObject {
  const time = new Date(ts * 1000);
  return {
    record: seq,
    at: Number.isNaN(time.getTime()) ? null : time.toISOString(),
    turn_id: turnId,
    speaker,
    ...(toolName === null ? {} : { tool_name: toolName }),
    text,
  };
}
