/** MCP over streamable HTTP, at `/mcp` of the server. Every request says for itself whom it is for. */
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { SESSION_HEADER } from '../../state/shared/sessions/session-environment.js';
import { SERVER_LIMITS } from '../server-options.js';
import type { McpTools } from './mcp-server.js';

/** Names the agent whose memory is looked at. Default: that of the session. */
export const AGENT_HEADER = 'X-Agent-Id';
export const MCP_PATH = '/mcp';

export function mcpOverHttp(tools: McpTools, onUnexpected: (thrown: unknown) => void): McpHttpHandler {
  return createMcpHandler(
    ({ requestInfo }) =>
      tools.serverFor({
        session: requestInfo?.headers.get(SESSION_HEADER) ?? null,
        agent: requestInfo?.headers.get(AGENT_HEADER) ?? null,
      }),
    { maxRequestBodySize: SERVER_LIMITS.bodyBytes, onerror: onUnexpected },
  );
}
