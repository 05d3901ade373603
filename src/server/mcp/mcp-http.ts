/** MCP over streamable HTTP, at `/mcp` of the server. Every request says for itself whom it is for. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { SESSION_HEADER } from '../../state/shared/sessions/session-environment.js';
import { assertExactNumbers } from '../http/exact-numbers.js';
import { textOfBody } from '../http/request-body.js';
import { SERVER_LIMITS } from '../server-options.js';
import type { McpCaller, McpTools } from './mcp-server.js';

/** Names the agent whose memory is looked at. Default: that of the session. */
export const AGENT_HEADER = 'X-Agent-Id';
export const MCP_PATH = '/mcp';

export interface McpOverHttp {
  /** @throws SESSION_NOT_FOUND, AGENT_NOT_FOUND, INVALID_NAME, INVALID_ARGUMENT before anything is served */
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

export function mcpOverHttp(tools: McpTools, onUnexpected: (thrown: unknown) => void): McpOverHttp {
  const handler = createMcpHandler(({ requestInfo }) => tools.serverFor(callerOf(requestInfo?.headers)), {
    maxRequestBodySize: SERVER_LIMITS.bodyBytes,
    onerror: onUnexpected,
  });
  return {
    async fetch(request) {
      await tools.assertKnown(callerOf(request.headers));
      if (request.method !== 'POST') return handler.fetch(request);
      const body = await textOfBody(request);
      assertExactNumbers(body);
      return handler.fetch(new Request(request.url, { method: 'POST', headers: request.headers, body }));
    },
    close: () => handler.close(),
  };
}

function callerOf(headers: Headers | undefined): McpCaller {
  return { session: headers?.get(SESSION_HEADER) || null, agent: headers?.get(AGENT_HEADER) || null };
}
