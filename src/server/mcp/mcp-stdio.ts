/** MCP over standard input and output: for clients that start it as their child. */
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { sessionFromEnvironment } from '../../state/shared/sessions/session-environment.js';
import { SharedSessions } from '../../state/shared/shared-sessions.js';
import type { StorageBackend } from '../../storage/ports.js';
import { type McpCaller, McpTools } from './mcp-server.js';

export interface McpStdioOptions {
  readonly backend: StorageBackend;
  readonly version: string;
  /** Where the session is read from when `session` is null. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly session: string | null;
  readonly agent: string | null;
  /** Standard output belongs to the protocol. */
  readonly onUnexpected: (thrown: unknown) => void;
}

/** Serves until the client ends. @throws SESSION_NOT_FOUND, AGENT_NOT_FOUND before anything is served */
export async function serveMcpStdio(options: McpStdioOptions, ended: Promise<void>): Promise<void> {
  const shared = new SharedSessions(options.backend);
  const tools = new McpTools(options.backend, shared, options.version);
  const session = options.session ?? sessionFromEnvironment(options.environment)?.id ?? null;
  const caller: McpCaller = { session, agent: options.agent };
  try {
    await tools.serverFor(caller);
    const handle = serveStdio(() => tools.serverFor(caller), { onerror: options.onUnexpected });
    await ended;
    await handle.close();
  } finally {
    await tools.close();
    await shared.close();
  }
}
