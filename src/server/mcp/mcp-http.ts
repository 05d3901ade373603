/** MCP over streamable HTTP, at `/mcp` of the server. Every request names its agent or session. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { SESSION_HEADER } from '../../state/shared/sessions/session-environment.js';
import type { AuditTrail } from '../access/audit-trail.js';
import { type Principal, reachesAgent, reachesRoot, reachesStore } from '../access/principal.js';
import { assertExactNumbers } from '../http/exact-numbers.js';
import { outOfScope } from '../http/reach.js';
import { textOfBody } from '../http/request-body.js';
import { SERVER_LIMITS } from '../server-options.js';
import type { McpPrincipal } from './mcp-mounts.js';
import type { McpCaller, McpTools } from './mcp-server.js';

/** Names the agent whose memory is read. Default: the agent of the session. */
export const AGENT_HEADER = 'X-Agent-Id';
export const MCP_PATH = '/mcp';
const NOBODY: McpPrincipal = {
  session: null,
  agentId: null,
  reach: 'own',
  mayWrite: false,
  mayDocuments: false,
  actor: 'nobody',
};

export interface McpOverHttp {
  /** @throws SESSION_NOT_FOUND, AGENT_NOT_FOUND, INVALID_NAME, INVALID_ARGUMENT before anything is served */
  fetch(request: Request, principal: Principal): Promise<Response>;
  close(): Promise<void>;
}

export function mcpOverHttp(
  tools: McpTools,
  audit: AuditTrail,
  onUnexpected: (thrown: unknown) => void,
): McpOverHttp {
  // The handler passes another request object to its factory, so the caller is passed separately. It is
  // looked up once.
  const callers = new AsyncLocalStorage<{ readonly principal: McpPrincipal; readonly signal: AbortSignal }>();
  const serverOf = () => {
    const { principal = NOBODY, signal } = callers.getStore() ?? {};
    return tools.serverFor(principal, signal);
  };
  // Calls that are allowed are recorded with their tool.
  const knownCaller = async (headers: Headers, asking: Principal) => {
    try {
      return await tools.known(callerOf(headers, asking));
    } catch (thrown) {
      const [agent, session] = [headers.get(AGENT_HEADER), headers.get(SESSION_HEADER)];
      const target = agent ? `agent ${agent}` : session ? `session ${session}` : 'store';
      await audit.record({ actor: asking.name, action: 'read', target, what: 'mcp' }, 'refused');
      throw thrown;
    }
  };
  const handler = createMcpHandler(serverOf, {
    maxRequestBodySize: SERVER_LIMITS.bodyBytes,
    onerror: onUnexpected,
  });
  return {
    async fetch(request, asking) {
      const { signal } = request; // aborted when the client disconnects
      const principal = await knownCaller(request.headers, asking);
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

/**
 * The token takes precedence over headers: anything outside of its reach does not exist, and if it has access
 * to one agent or acts as one session, that is the caller. Without a caller, the tools would be those that
 * all clients share. @throws REQUEST_REFUSED
 */
function callerOf(headers: Headers, asking: Principal): McpCaller {
  const { agents, session: own, mayWrite } = asking;
  const session = headers.get(SESSION_HEADER) || own;
  if (own !== null && session !== own)
    throw outOfScope(`The token acts as the session ${JSON.stringify(own)}.`);
  const only = agents !== 'all' && agents.length === 1 && session === null ? agents[0]! : null;
  const agent = headers.get(AGENT_HEADER) || only;
  if (session === null && agent === null && !reachesStore(asking))
    throw outOfScope(
      `Name an agent (${AGENT_HEADER}) or a session (${SESSION_HEADER}) that the token reaches.`,
    );
  const mayAgent = (id: string) => reachesAgent(asking, id);
  const mayRoot = (root: string) => reachesRoot(asking, root);
  // Documents belong to the whole store.
  const mayDocuments = reachesStore(asking);
  return { session, agent, mayAgent, mayRoot, mayWrite, mayDocuments, actor: asking.name };
}
