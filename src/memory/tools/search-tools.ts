/** The tools with which an agent searches what left its context, and reads around it. The agent is fixed here. */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { inputObject, type ToolDefinition } from '../../core/tool-definition.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { EmbedderOptions } from '../recall/embedder.js';
import { embedderOptions } from '../recall/embedder-options.js';
import { type Passage, timeOf } from '../recall/passage.js';
import { AROUND_MAX, type PastPlace, type PastReading, readPast } from '../recall/read-past.js';
import { type PastQuery, searchAgent } from '../recall/search-agent.js';
import {
  momentOf,
  OFFSET_MAX,
  QUERY_CHARS_MAX,
  RESULTS_MAX,
  SPEAKER_WORDS,
} from '../recall/search-filters.js';

export interface SearchToolOptions extends EmbedderOptions {
  readonly backend: StorageBackend;
  /** The agent whose past is searched. No argument of a call names another agent. */
  readonly agentId: string;
  /** Default: the system clock. */
  readonly nowMs?: () => number;
}

export function searchTools(options: SearchToolOptions): ToolDefinition[] {
  return [searchTool(options), readTool(options)];
}

function searchTool(options: SearchToolOptions): ToolDefinition {
  const { backend, agentId, nowMs = Date.now } = options;
  return {
    name: 'memory_search',
    description:
      'Finds what was said, done and answered in your own past, also long ago. Best match first: ask in plain words, with names and terms. Times ("last week") count. `memory_read` reads around a result by its `record`.',
    inputSchema: inputObject(
      {
        query: {
          type: 'string',
          pattern: '\\S',
          maxLength: QUERY_CHARS_MAX,
          description: 'What to look for.',
        },
        limit: { type: 'integer', minimum: 1, maximum: RESULTS_MAX, description: 'Default 10.' },
        offset: {
          type: 'integer',
          minimum: 0,
          maximum: OFFSET_MAX,
          description: '`next_offset` of the page before.',
        },
        speaker: {
          type: 'string',
          enum: Object.keys(SPEAKER_WORDS),
          description: 'Only what this one said.',
        },
        tool: { type: 'string', maxLength: 200, description: 'Only calls and results of this tool.' },
        since: { type: 'string', maxLength: 40, description: 'Only from this time on, such as 2026-05-31.' },
        until: { type: 'string', maxLength: 40, description: 'Only before this time.' },
      },
      ['query'],
    ),
    idempotent: true,
    execute: async (args) => {
      const page = await searchAgent(backend, agentId, {
        ...queryOf(args, nowMs()),
        ...embedderOptions(options),
      });
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
  const speakers = typeof speaker === 'string' ? SPEAKER_WORDS[speaker] : undefined;
  return {
    text: String(query),
    nowMs,
    ...(typeof limit === 'number' ? { limit } : {}),
    ...(typeof offset === 'number' ? { offset } : {}),
    ...(speakers ? { speakers } : {}),
    ...(typeof tool === 'string' ? { toolName: tool } : {}),
    ...(since === undefined ? {} : { fromMs: momentOf('since', String(since)) }),
    ...(until === undefined ? {} : { toMs: momentOf('until', String(until)) }),
  };
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
    execute: async (args) => pageJson(await readPast(backend, agentId, placeOf(args))),
  };
}

function placeOf({ record, before, after, from_turn: fromTurn, to_turn: toTurn }: JsonObject): PastPlace {
  if (typeof record === 'number')
    return {
      record,
      ...(typeof before === 'number' ? { before } : {}),
      ...(typeof after === 'number' ? { after } : {}),
    };
  if (typeof fromTurn === 'number') return { fromTurn, ...(typeof toTurn === 'number' ? { toTurn } : {}) };
  throw new RekindleError('INVALID_ARGUMENT', 'Give `record`, or `from_turn`.', {
    details: { field: 'record' },
  });
}

function pageJson({ passages, nextRecord }: PastReading): JsonObject {
  return { passages: passages.map(passageJson), next_record: nextRecord };
}

/** `at` is in UTC. */
export function passageJson(passage: Passage): JsonObject {
  const { seq, turnId, speaker, toolName, text } = passage;
  return {
    record: seq,
    at: timeOf(passage),
    turn_id: turnId,
    speaker,
    ...(toolName === null ? {} : { tool_name: toolName }),
    text,
  };
}
