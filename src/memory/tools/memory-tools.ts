/** The tools with which an agent looks at its own memory. They read, and change nothing; whose memory it is, is bound here. */
import { RekindleError } from '../../core/errors.js';
import { type JsonObject, type JsonValue, textOr } from '../../core/json.js';
import { inputObject, type ToolDefinition } from '../../core/tool-definition.js';
import type { StorageBackend } from '../../storage/ports.js';
import { tracesBackward } from '../maintenance/recent-traces.js';
import { restoreDry } from '../maintenance/restore-dry.js';
import { readResultTool } from './read-result.js';

export interface MemoryToolOptions {
  readonly backend: StorageBackend;
  readonly agentId: string;
}

const RESULTS_MAX = 50;
const TURNS_MAX = 20;
const WORDS_MAX = 32;
/** Traces that a search looks through at most. */
const SEARCHED_MAX = 20_000;
/** Of one text in a result, in characters. */
const EXCERPT = 400;

/** Tool definitions as the agent loop and MCP mount them. */
export function memoryTools(options: MemoryToolOptions): ToolDefinition[] {
  return [searchTool(options), recentTurnsTool(options), readResultTool(options), reportTool(options)];
}

function searchTool(options: MemoryToolOptions): ToolDefinition {
  return {
    name: 'memory_search',
    description:
      'Finds what was said, done and answered in your own past, also long ago, newest first. All words (32 at most) must occur, in any order; parts of words count, quotes have no meaning. Texts are cut at 400 characters.',
    inputSchema: inputObject(
      {
        query: { type: 'string', pattern: '\\S', maxLength: 500, description: 'Words to look for.' },
        limit: { type: 'integer', minimum: 1, maximum: RESULTS_MAX, description: 'Default 10.' },
      },
      ['query'],
    ),
    idempotent: true,
    execute: async (args) => {
      const words = foldCase(String(args['query'])).split(/\s+/).filter(Boolean);
      assertWords(words);
      const limit = typeof args['limit'] === 'number' ? args['limit'] : 10;
      const results: JsonObject[] = [];
      let searched = 0;
      for await (const { row } of tracesBackward(options.backend, options.agentId)) {
        searched += 1;
        const found = isSpeech(row) ? excerptAround(textOfTrace(row), words) : null;
        if (found !== null) results.push({ ...placeOf(row), text: found });
        if (results.length >= limit || searched >= SEARCHED_MAX) break;
      }
      return { results, searched_traces: searched, searched_all: searched < SEARCHED_MAX };
    },
  };
}

function recentTurnsTool(options: MemoryToolOptions): ToolDefinition {
  return {
    name: 'memory_recent_turns',
    description: 'Your last turns: what you were asked, which tools ran, what you answered. Oldest first.',
    inputSchema: inputObject({
      turns: { type: 'integer', minimum: 1, maximum: TURNS_MAX, description: 'Default 5.' },
    }),
    idempotent: true,
    execute: async (args) => {
      const wanted = typeof args['turns'] === 'number' ? args['turns'] : 5;
      const turns = new Map<string, JsonObject[]>();
      for await (const { row } of tracesBackward(options.backend, options.agentId)) {
        if (!isSpeech(row)) continue;
        const turn = textOr(row['turn_id']);
        if (!turns.has(turn) && turns.size === wanted) break;
        const events = turns.get(turn) ?? [];
        turns.set(turn, events);
        events.unshift({ ...placeOf(row), text: shortened(textOfTrace(row)) });
      }
      return { turns: [...turns].reverse().map(([turn_id, events]) => ({ turn_id, events })) };
    },
  };
}

function reportTool({ backend, agentId }: MemoryToolOptions): ToolDefinition {
  return {
    name: 'restore_report',
    description:
      'What was interrupted or is unknown since your last run: tool calls without a result and what is known of each, repairs of your context, damage.',
    inputSchema: inputObject({}),
    idempotent: true,
    execute: () => restoreDry(backend, agentId, (_memory, _messages, report) => report),
  };
}

/** Compactions and boundaries hold copies of what was said elsewhere. */
function isSpeech({ trace_type: type }: JsonObject): boolean {
  return type === 'user' || type === 'assistant' || type === 'tool_call' || type === 'tool_result';
}

function placeOf({ ts, turn_id, trace_type, tool_name }: JsonObject): JsonObject {
  return {
    at: typeof ts === 'number' ? new Date(ts * 1000).toISOString() : null,
    turn_id: turn_id ?? null,
    type: trace_type ?? null,
    ...(tool_name === undefined ? {} : { tool_name }),
  };
}

function textOfTrace(row: JsonObject): string {
  const parts = [row['content'], row['tool_name'], row['tool_args'], row['tool_result'], row['tool_error']];
  return parts
    .filter((part) => part !== undefined && part !== null && part !== '')
    .map(asText)
    .join(' ');
}

function asText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Null unless every word occurs. Looks through the text once for each word. @param words with their case folded */
function excerptAround(text: string, words: readonly string[]): string | null {
  const folded = foldCase(text); // as long as the text but for a few letters
  const places: number[] = [];
  for (const word of words) {
    const place = folded.indexOf(word);
    if (place < 0) return null;
    places.push(place);
  }
  if (places.length === 0) return null;
  const at = Math.max(0, places[0]! - EXCERPT / 4);
  return shortened(text.slice(isLowSurrogate(text.charCodeAt(at)) ? at + 1 : at));
}

/** Letters in both cases, and in forms that stand for the same letter, become one. */
function foldCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ').replaceAll('ſ', 's');
}

function assertWords(words: readonly string[]): void {
  if (words.length <= WORDS_MAX) return;
  throw new RekindleError('LIMIT_EXCEEDED', `A query has at most ${WORDS_MAX} words.`, {
    details: { limit: 'words', allowed: WORDS_MAX, actual: words.length },
  });
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function shortened(text: string): string {
  return text.length <= EXCERPT ? text : `${text.slice(0, EXCERPT).toWellFormed()}…`;
}
