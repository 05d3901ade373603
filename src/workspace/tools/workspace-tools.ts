/**
 * The tools with which agents use a workspace. They read at the time of the call, so results are never
 * outdated. Workspace and visible calls are fixed here; the configuration applies to every call.
 */
import { RekindleError } from '../../core/errors.js';
import type { JsonObject, JsonValue } from '../../core/json.js';
import { TimeSlices } from '../../core/time-slices.js';
import { inputObject, type ToolDefinition } from '../../core/tool-definition.js';
import type { ContextDependencies, ContextRequest } from '../context/context-request.js';
import { contextText } from '../context/selective-context.js';
import { oneLine, summarizeValue } from '../context/summarize-value.js';
import type { ToolCallLog } from '../tool-calls/tool-call-log.js';
import type { ToolCallRecord } from '../tool-calls/tool-call-record.js';
import type { Workspace } from '../workspace.js';

/** Options of `workspaceTools`. */
export interface WorkspaceToolOptions {
  readonly workspace: Workspace;
  /** The agent that uses the tools. Entries are written in this name, whatever the model says. */
  readonly agent: string;
  /** What `get_workspace_context` shows if the model names no keys. */
  readonly dependencies?: ContextDependencies;
  readonly producers?: ContextRequest['producers'];
  /** Several clients share this name, so its optional entries are shown, too. Default false. */
  readonly isCommonName?: boolean;
  /** Without a log, `get_recent_tool_calls` is not offered. */
  readonly log?: ToolCallLog;
  /** Which calls `get_recent_tool_calls` shows. Default: the agent's own. */
  readonly calls?: CallReach;
}

/**
 * `all`: the calls of every agent in the log. Use it only for a model that may read the inputs of all others.
 */
export type CallReach = 'own' | 'all' | { readonly sessions: () => Promise<readonly string[]> };

const keyOfEntry = { type: 'string', minLength: 1, maxLength: 200, description: 'The key of an entry.' };
const RECENT_MAX = 50;

/** Tool definitions for the agent loop and MCP. The model cannot choose the workspace or the author. */
export function workspaceTools(options: WorkspaceToolOptions): ToolDefinition[] {
  const { log, agent, calls = 'own', workspace } = options;
  const tools = [contextTool(options), summaryTool(options), readTool(options), writeTool(options)];
  if (log) tools.push(recentCallsTool(log, agent, calls));
  return tools.map((tool) => workspace.config.guarded(agent, tool));
}

function contextTool(options: WorkspaceToolOptions): ToolDefinition {
  const { workspace, agent, dependencies, producers, isCommonName = false } = options;
  return {
    name: 'get_workspace_context',
    description:
      'The newest entries of the shared workspace, cut to your budget of tokens where you have one.',
    inputSchema: inputObject({
      keys: {
        type: 'array',
        items: keyOfEntry,
        description: dependencies
          ? 'Which entries. Default: those that your role depends on.'
          : 'Which entries. Default: all.',
      },
    }),
    idempotent: true,
    execute: async ({ keys }, { signal }) => {
      const named = Array.isArray(keys)
        ? { required: keys as string[], excluded: dependencies?.excluded ?? [] }
        : null;
      const budget = await workspace.config.budgetOf(agent);
      return contextText(workspace, {
        agent: isCommonName ? null : agent,
        signal,
        dependencies: named ?? dependencies ?? { required: [], optional: await workspace.keys() },
        ...(budget ? { budget } : {}),
        ...(producers ? { producers } : {}),
      });
    },
  };
}

function summaryTool({ workspace }: WorkspaceToolOptions): ToolDefinition {
  return {
    name: 'get_workspace_summary',
    description:
      'What is in the shared workspace: one line for each entry, without its value. Use it to decide what to read.',
    inputSchema: inputObject({}),
    idempotent: true,
    execute: async (_, { signal }) => {
      const slices = new TimeSlices(signal);
      const keys = await workspace.keys();
      const entries = await workspace.readMany(keys, { signal });
      const lines: string[] = [];
      for (const key of keys) {
        if (slices.isOver) await slices.pause();
        const entry = entries.get(key);
        if (!entry) continue;
        const { value, version, writtenBy } = entry;
        const about = `version ${version}, by ${oneLine(writtenBy)}`;
        lines.push(`- ${oneLine(key)}: ${summarizeValue(value)} (${about})`);
      }
      return lines.length === 0 ? 'The workspace is empty.' : lines.join('\n');
    },
  };
}

function readTool({ workspace }: WorkspaceToolOptions): ToolDefinition {
  return {
    name: 'read_from_workspace',
    description: 'The whole value of one entry of the shared workspace, the newest or an older version.',
    inputSchema: inputObject(
      { key: keyOfEntry, version: { type: 'integer', minimum: 1, description: 'Default: the newest.' } },
      ['key'],
    ),
    idempotent: true,
    execute: async (args) => {
      const key = String(args['key']);
      const { version } = args;
      const entry =
        typeof version === 'number' ? await workspace.readVersion(key, version) : await workspace.read(key);
      if (!entry || entry.value === undefined) throw await absent(workspace, key, version);
      return { key, version: entry.version, written_by: entry.writtenBy, at: entry.at, value: entry.value };
    },
  };
}

function writeTool({ workspace, agent }: WorkspaceToolOptions): ToolDefinition {
  return {
    name: 'write_to_workspace',
    description: 'Writes a new version of an entry of the shared workspace. The old versions stay.',
    inputSchema: inputObject({ key: keyOfEntry, value: { description: 'Any JSON value.' } }, [
      'key',
      'value',
    ]),
    execute: async ({ key, value }) => {
      const { version, notes } = await workspace.write(String(key), value, { agent });
      return { key: String(key), version, ...(notes.length > 0 ? { notes: [...notes] } : {}) };
    },
  };
}

function recentCallsTool(log: ToolCallLog, agent: string, reach: CallReach): ToolDefinition {
  return {
    name: 'get_recent_tool_calls',
    description: 'The last calls of tools, newest first, with their inputs, results and errors.',
    inputSchema: inputObject({
      tool_name: { type: 'string', description: 'Only calls of this tool.' },
      mine: { type: 'boolean', description: 'Only your own calls.' },
      status: { type: 'string', enum: ['ok', 'error'], description: 'How the call ended.' },
      text: { type: 'string', description: 'Only calls with this text in their input, output or error.' },
      limit: { type: 'integer', minimum: 1, maximum: RECENT_MAX, description: 'Default 10.' },
    }),
    idempotent: true,
    execute: async ({ tool_name: tool, mine, status, text, limit }) => {
      const calls = await log.search({
        ...(typeof tool === 'string' ? { tool } : {}),
        ...(reach === 'own' || mine === true ? { agent } : {}),
        ...(typeof reach === 'object' ? { sessions: await reach.sessions() } : {}),
        ...(status === 'ok' || status === 'error' ? { status } : {}),
        ...(typeof text === 'string' ? { text } : {}),
        ...(typeof limit === 'number' ? { limit } : {}),
      });
      return calls.map(describeCall);
    },
  };
}

function describeCall(call: ToolCallRecord): JsonObject {
  const { tool, agent, startedAt, durationMs, input, inputRef, output, outputRef, error } = call;
  return {
    tool,
    agent,
    started_at: startedAt,
    duration_ms: durationMs,
    ...(inputRef === null ? { input } : { input_ref: inputRef }),
    ...(error !== null ? { error } : outputRef === null ? { output } : { output_ref: outputRef }),
  };
}

async function absent(
  workspace: Workspace,
  key: string,
  version: JsonValue | undefined,
): Promise<RekindleError> {
  const keys = await workspace.keys();
  const what =
    version === undefined
      ? `no entry ${JSON.stringify(key)}`
      : `no version ${String(version)} of ${JSON.stringify(key)}`;
  const there = keys.length === 0 ? 'The workspace is empty.' : `There are: ${keys.slice(0, 50).join(', ')}.`;
  return new RekindleError('ENTRY_NOT_FOUND', `There is ${what}. ${there}`, { details: { key } });
}
