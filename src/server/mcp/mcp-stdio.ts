import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { CheckpointService } from '../../checkpoints/checkpoint-service.js';
import { isJsonObject, tryParseJson } from '../../core/json.js';
import type { StateDocuments } from '../../state/durable/tools/mounted-state.js';
import { assertRoot, sessionFromEnvironment } from '../../state/shared/sessions/session-environment.js';
import type { SharedLimits } from '../../state/shared/shared-limits.js';
import { SharedSessions } from '../../state/shared/shared-sessions.js';
import { AuditLog, hasAuditLog } from '../../storage/audit/audit-log.js';
import type { StorageBackend } from '../../storage/ports.js';
import { AuditTrail } from '../access/audit-trail.js';
import { ExactLines } from './exact-lines.js';
import type { McpReach } from './mcp-mounts.js';
import { McpTools } from './mcp-server.js';

/** How long to wait for answers after the client disconnects. */
const ANSWER_MS = 5_000;
const LOOK_MS = 10;

/** Options of `serveMcpStdio`. */
export interface McpStdioOptions {
  readonly backend: StorageBackend;
  readonly checkpoints: CheckpointService;
  readonly version: string;
  /** Its variables name the session if `session` is null. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The session whose shared state the tools use. */
  readonly session: string | null;
  /** The agent whose memory the tools read. Null: the session's agent. */
  readonly agent: string | null;
  readonly reach: McpReach;
  /** Open durable documents that become tools, by name. Default: none. */
  readonly documents?: StateDocuments;
  /** Of the shared state. */
  readonly limits?: Partial<SharedLimits>;
  /** Called with unexpected errors. Do not write to standard output, which belongs to the protocol. */
  readonly onUnexpected: (thrown: unknown) => void;
  /** Who calls, for the audit log. */
  readonly actor?: string;
}

/**
 * Serves MCP over standard input and output until the client ends. @throws SESSION_NOT_FOUND,
 * AGENT_NOT_FOUND, INVALID_ARGUMENT before anything is served
 */
export async function serveMcpStdio(options: McpStdioOptions, ended: Promise<void>): Promise<void> {
  const shared = new SharedSessions(options.backend, options.limits ? { limits: options.limits } : {});
  const { backend, checkpoints, version, documents = {} } = options;
  const audit = new AuditTrail((await hasAuditLog(backend)) ? new AuditLog(backend) : null);
  const onLogFailed = (message: string) =>
    options.onUnexpected(new Error(`A call is not in the tool-call log: ${message}`));
  const tools = new McpTools({ backend, shared, checkpoints, version, documents, audit, onLogFailed });
  const given = options.session ? null : sessionFromEnvironment(options.environment);
  const session = options.session || given?.id || null;
  try {
    const caller = await tools.known({
      session,
      agent: options.agent,
      reach: options.reach,
      ...(options.actor === undefined ? {} : { actor: options.actor }),
    });
    if (given?.root && caller.session) assertRoot(caller.session, given.root);
    // The transport drops answers once its input ends, so it gets an input that stays open.
    const requests = new OpenRequests();
    const exact = new ExactLines({
      onTaken: (text) => requests.asked(text),
      answer: (line) => void process.stdout.write(line),
    });
    const input = process.stdin.pipe(exact, { end: false });
    const transport = new CountedTransport(requests, input, process.stdout);
    const handle = serveStdio(() => tools.serverFor(caller), { transport, onerror: options.onUnexpected });
    await ended;
    await requests.allAnswered();
    tools.stop(); // no client waits for running calls
    await tools.idle();
    await new Promise((resolve) => process.stdout.write('', resolve));
    await handle.close();
  } finally {
    await tools.close();
    await shared.close();
    await audit.close();
  }
}

/** A client may close its side after its last request, which must still be executed and answered. */
class OpenRequests {
  readonly #ids = new Set<string>();

  asked(line: string): void {
    const message = tryParseJson(line);
    if (!isJsonObject(message)) return;
    const { id, method, params } = message;
    if (id !== undefined && method !== undefined) this.#ids.add(JSON.stringify(id));
    if (method === 'notifications/cancelled' && isJsonObject(params))
      this.#ids.delete(JSON.stringify(params['requestId'] ?? null)); // it gets no answer
  }

  answered(message: object): void {
    if ('id' in message && !('method' in message)) this.#ids.delete(JSON.stringify(message.id));
  }

  /** Waits at most five seconds. */
  async allAnswered(): Promise<void> {
    for (const until = performance.now() + ANSWER_MS; this.#ids.size > 0 && performance.now() < until; )
      await sleep(LOOK_MS);
  }
}

class CountedTransport extends StdioServerTransport {
  readonly #requests: OpenRequests;

  constructor(requests: OpenRequests, input: Readable, output: Writable) {
    super(input, output);
    this.#requests = requests;
  }

  override async send(message: Parameters<StdioServerTransport['send']>[0]): Promise<void> {
    await super.send(message);
    this.#requests.answered(message);
  }
}
