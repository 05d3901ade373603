/** Writes the calls of one connection to the store's tool-call log, as loops of hosts do. */
import { CallRecorder } from '../../agent/tools/call-recorder.js';
import { isJsonObject } from '../../core/json.js';
import type { ToolCallLog } from '../../workspace/tool-calls/tool-call-log.js';
import { ANYBODY, type McpPrincipal, type MountedTools } from './mcp-mounts.js';

/** Its results are other calls of the log: with them, each search would be in the next one. */
const NOT_LOGGED = 'get_recent_tool_calls';

/** In place of what belongs to the memory or to a checkpoint: a copy in the log would outlive it, and its encryption. */
const LEFT_OUT = '[left out of the log]';

/** Where one tool's calls are written. */
export type CallLog = Pick<CallRecorder, 'begun' | 'ended' | 'flush'>;

export interface CallLoggingOptions {
  readonly log: ToolCallLog;
  readonly mounted: MountedTools;
  /** Called if a call cannot be logged. The call does not fail. */
  readonly onFailed: (message: string) => void;
}

/**
 * The log of a tool's calls; null if they are not logged. Sessions of a root are shown each other's calls, so only
 * calls of tools that they share are logged with the session: the memory of an agent is not for its siblings.
 */
export function callLogging(
  { session, agentId }: McpPrincipal,
  { log, mounted: { ofRoot, ofRecords }, onFailed }: CallLoggingOptions,
): (tool: string) => CallLog | null {
  // Not the agent that the session names: it may be one that the caller does not reach.
  const agent = agentId ?? session?.id ?? ANYBODY;
  const own = new CallRecorder({ log }, agent, onFailed);
  const shared = session ? new CallRecorder({ log, session: session.id }, agent, onFailed) : own;
  const brief = withoutCopies(own);
  return (tool) => {
    if (tool === NOT_LOGGED) return null;
    return ofRecords.has(tool) ? brief : ofRoot.has(tool) ? shared : own;
  };
}

function withoutCopies(recorder: CallRecorder): CallLog {
  return {
    begun: (call) => {
      const given = call.arguments;
      const hasContext = isJsonObject(given) && given['context'] !== undefined;
      recorder.begun(hasContext ? { ...call, arguments: { ...given, context: LEFT_OUT } } : call);
    },
    ended: (outcome, turnId) =>
      recorder.ended(outcome.error === null ? { ...outcome, result: LEFT_OUT } : outcome, turnId),
    flush: () => recorder.flush(),
  };
}
