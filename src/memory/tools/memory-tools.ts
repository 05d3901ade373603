/** The tools with which an agent inspects its own memory. They only read. The agent is fixed here. */
import { type JsonObject, type JsonValue, textOr } from '../../core/json.js';
import { inputObject, type ToolDefinition } from '../../core/tool-definition.js';
import type { StorageBackend } from '../../storage/ports.js';
import { tracesBackward } from '../maintenance/recent-traces.js';
import { restoreDry } from '../maintenance/restore-dry.js';
import type { EmbedderOptions } from '../recall/embedder.js';
import { readResultTool } from './read-result.js';
import { searchTools } from './search-tools.js';

/** The store, and the agent whose memory the tools read. */
export interface MemoryToolOptions extends EmbedderOptions {
  readonly backend: StorageBackend;
  readonly agentId: string;
}

const TURNS_MAX = 20;
/** Maximum characters of one text in a result. */
const EXCERPT = 400;

/** Tool definitions for the agent loop and MCP. */
export function memoryTools(options: MemoryToolOptions): ToolDefinition[] {
  return [...lookBackTools(options), recentTurnsTool(options), reportTool(options)];
}

/** The tools with which a model finds what left its context: `read_result`, `memory_search`, `memory_read`. */
export function lookBackTools(options: MemoryToolOptions): ToolDefinition[] {
  return [readResultTool(options), ...searchTools(options)];
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

/** Compactions and boundaries contain copies of messages. */
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

function shortened(text: string): string {
  return text.length <= EXCERPT ? text : `${text.slice(0, EXCERPT).toWellFormed()}…`;
}
