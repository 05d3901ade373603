/** MCP over streamable HTTP, at `/mcp` of the server. Every request says for itself whom it is for. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { SESSION_HEADER } from '../../state/shared/sessions/session-environment.js';
import { assertExactNumbers } from '../http/exact-numbers.js';
import { textOfBody } from '../http/request-body.js';
import { SERVER_LIMITS } from '../server-options.js';
import type { McpPrincipal } from './mcp-mounts.js';
import type { McpCaller, McpTools } from './mcp-server.js';

/** Names the agent whose memory is looked at. Default: that of the session. */
export const AGENT_HEADER = 'X-Agent-Id';
export const MCP_PATH = '/mcp';
const NOBODY: McpPrincipal = { session: null, agentId: null, reach: 'own' };

export interface McpOverHttp {
  /** @throws SESSION_NOT_FOUND, AGENT_NOT_FOUND, INVALID_NAME, INVALID_ARGUMENT before anything is served */
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

export function mcpOverHttp(tools: McpTools, onUnexpected: (thrown: unknown) => void): McpOverHttp {
  // The handler gives its factory another request than it was given: whom it is for goes beside it, looked up once.
  const callers = new AsyncLocalStorage<{ readonly principal: McpPrincipal; readonly signal: AbortSignal }>();
  const serverOf = () => {
    const { principal = NOBODY, signal } = callers.getStore() ?? {};
    return tools.serverFor(principal, signal);
  };
  const handler = createMcpHandler(serverOf, {
    maxRequestBodySize: SERVER_LIMITS.bodyBytes,
    onerror: onUnexpected,
  });
  return {
    async fetch(request) {
      const { signal } = request; // of the connection: it is aborted when the client has gone
      const principal = await tools.known(callerOf(request.headers));
      return callers.run({ principal, signal }, async () => handler.fetch(await checked(request)));
    },
    close: () => handler.close(),
  };
}

async function checked(request: Request): Promise<Request> {
  if (request.method !== 'POST') return request;
  const body = await textOfBody(request);
  assertExactNumbers(body);
  return new Request(request.url, { method: 'POST', headers: request.headers, body });
}

function callerOf(headers: Headers): McpCaller {
  return { session: headers.get(SESSION_HEADER) || null, agent: headers.get(AGENT_HEADER) || null };
}
