/** MCP over standard input and output: for clients that start it as their child. */
import { setTimeout as sleep } from 'node:timers/promises';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { CheckpointService } from '../../checkpoints/checkpoint-service.js';
import { assertRoot, sessionFromEnvironment } from '../../state/shared/sessions/session-environment.js';
import { SharedSessions } from '../../state/shared/shared-sessions.js';
import type { StorageBackend } from '../../storage/ports.js';
import { ExactLines } from './exact-lines.js';
import type { McpReach } from './mcp-mounts.js';
import { McpTools } from './mcp-server.js';

/** For calls that run when the client is gone; for a message to be taken up, or an answer to be written. */
const ANSWER_MS = 5_000;
const SETTLE_MS = 50;

export interface McpStdioOptions {
  readonly backend: StorageBackend;
  readonly checkpoints: CheckpointService;
  readonly version: string;
  /** Where the session is read from when `session` is null. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly session: string | null;
  readonly agent: string | null;
  readonly reach: McpReach;
  /** Standard output belongs to the protocol. */
  readonly onUnexpected: (thrown: unknown) => void;
}

/** Serves until the client ends. @throws SESSION_NOT_FOUND, AGENT_NOT_FOUND before anything is served */
export async function serveMcpStdio(options: McpStdioOptions, ended: Promise<void>): Promise<void> {
  const shared = new SharedSessions(options.backend);
  const { backend, checkpoints, version } = options;
  const tools = new McpTools({ backend, shared, checkpoints, version });
  const given = options.session ? null : sessionFromEnvironment(options.environment);
  const session = options.session || given?.id || null;
  try {
    const caller = await tools.known({ session, agent: options.agent, reach: options.reach });
    if (given?.root && caller.session) assertRoot(caller.session, given.root);
    // The transport would drop answers once its input ends: it gets one that does not.
    const exact = new ExactLines((line) => void process.stdout.write(line));
    const input = process.stdin.pipe(exact, { end: false });
    const transport = new StdioServerTransport(input, process.stdout);
    const handle = serveStdio(() => tools.serverFor(caller), { transport, onerror: options.onUnexpected });
    await ended;
    await answered(tools);
    await handle.close();
  } finally {
    await tools.close();
    await shared.close();
  }
}

/** A client may close its side after its last request: what that asked for is done and answered all the same. */
async function answered(tools: McpTools): Promise<void> {
  const given = sleep(ANSWER_MS, undefined, { ref: false });
  const done = async () => {
    await sleep(SETTLE_MS);
    await tools.idle();
    await sleep(SETTLE_MS);
    await new Promise((resolve) => process.stdout.write('', resolve));
  };
  await Promise.race([done(), given]);
}
