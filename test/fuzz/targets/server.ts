import { CheckpointService } from '../../../src/checkpoints/checkpoint-service.js';
import { AuditTrail } from '../../../src/server/access/audit-trail.js';
import { OWNER } from '../../../src/server/access/principal.js';
import { createHttpApp } from '../../../src/server/http/http-app.js';
import { allRoutes } from '../../../src/server/http/routes/all-routes.js';
import { McpTools } from '../../../src/server/mcp/index.js';
import { type McpOverHttp, mcpOverHttp } from '../../../src/server/mcp/mcp-http.js';
import { DocumentPool } from '../../../src/state/durable/document-pool.js';
import { taskBoard } from '../../../src/state/durable/documents/task-board.js';
import { StateManager } from '../../../src/state/durable/state-manager.js';
import { SharedSessions } from '../../../src/state/shared/shared-sessions.js';
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.js';
import { OpenWorkspaces } from '../../../src/workspace/open-workspaces.js';
import { expectThat, type FuzzTarget } from '../fuzz-target.js';

/** A server without sockets: what it answers, and what it did not expect. */
class Served {
  readonly app: ReturnType<typeof createHttpApp>;
  readonly mcp: McpOverHttp;
  readonly unexpected: unknown[] = [];

  private constructor(backend: MemoryStorage, shared: SharedSessions) {
    const checkpoints = new CheckpointService({ backend });
    const onUnexpected = (thrown: unknown) => void this.unexpected.push(thrown);
    const closing = new AbortController().signal;
    const pool = new DocumentPool(backend, [taskBoard]);
    const workspaces = new OpenWorkspaces(backend);
    const services = { backend, shared, checkpoints, pool, workspaces, metrics: null, closing };
    this.app = createHttpApp({
      routes: allRoutes,
      services,
      audit: new AuditTrail(null),
      principalOf: () => OWNER,
      onUnexpected,
    });
    this.mcp = mcpOverHttp(
      new McpTools({ backend, shared, checkpoints, version: '0' }),
      new AuditTrail(null),
      onUnexpected,
    );
  }

  static async make(): Promise<Served> {
    const backend = new MemoryStorage();
    const shared = new SharedSessions(backend);
    await shared.tree.create({ id: 'root' });
    const state = await shared.stateOf('root');
    await state.patch({ a: 1, list: [1], object: { b: 2 } });
    await (await StateManager.open({ ...taskBoard, backend })).close();
    return new Served(backend, shared);
  }

  expectNothingUnexpected(): void {
    const [first] = this.unexpected.splice(0);
    if (first !== undefined) throw first;
  }
}

let served: Promise<Served> | null = null;
const now = () => (served ??= Served.make());
const renew = async () => {
  served = null;
};

/** `METHOD path` on the first line, then the body. */
export const httpBodies: FuzzTarget = {
  name: 'http',
  weight: 4,
  seeds: [
    'PUT /sessions/root/state/a\n{"value":{"b":[1,2]}}',
    'PATCH /sessions/root/state\n{"a":null,"object":{"c":{"d":1}}}',
    'PATCH /documents/task_board\n{"tasks":[{"id":"T-001","goal":"x","owner":"builder","acceptance":[],"status":"todo"}]}',
    'GET /documents/task_board?at=1\n',
    'GET /documents/task_board/history?limit=1&before=2\n',
    'POST /sessions/root/state/list/ops\n{"op":"append","items":[1,"x"]}',
    'POST /sessions/root/state/a/ops\n{"op":"increment","delta":2}',
    'POST /sessions/root/state/object/ops\n{"op":"merge","patch":{"x":{"y":1}}}',
    'POST /sessions/root/state/batch\n{"operations":[{"op":"set","key":"k","value":1},{"op":"increment","key":"a"}]}',
    'POST /sessions\n{"id":"child","parent":"root"}',
    'PUT /sessions/root/status\n{"status":"done"}',
    'GET /sessions/root/state?since=1\n',
    'GET /sessions/root/state/a/history?limit=3\n',
    'GET /checkpoints?limit=2\n',
    'DELETE /sessions/root/state/a\n',
  ],
  words: [
    '"op"',
    '"value"',
    '"key"',
    '"increment"',
    '"append"',
    '"delta"',
    '"if_version"',
    '"by"',
    '%2F',
    '..',
    '?since=',
    '?limit=',
    '1e400',
    '9007199254740993',
    '"__proto__"',
  ],
  async take(input, random) {
    const end = input.indexOf('\n');
    const [, method = 'PUT', given = ''] =
      /^([A-Z]{3,6}) (\S*)/.exec(end < 0 ? input : input.slice(0, end)) ?? [];
    const url = URL.parse?.(given, 'http://127.0.0.1') ?? null;
    const address = url ?? addressOf(given);
    const isRead = method === 'GET' || method === 'HEAD' || method === 'DELETE';
    if (!address || !['GET', 'PUT', 'POST', 'PATCH', 'DELETE'].includes(method)) return false;
    const type =
      random.below(20) === 0
        ? 'text/plain'
        : method === 'PATCH'
          ? 'application/merge-patch+json'
          : 'application/json';
    const body = isRead ? {} : { body: input.slice(end + 1) };
    const server = await now();
    const answer = await server.app.fetch(
      new Request(address, { method, headers: { 'content-type': type }, ...body }),
    );
    const text = await answer.text();
    server.expectNothingUnexpected();
    expectThat(answer.status < 500, `the answer is ${answer.status}: ${text.slice(0, 200)}`);
    if (text !== '') JSON.parse(text);
    return answer.status < 300;
  },
  renew,
};

function addressOf(path: string): URL | null {
  try {
    return new URL(path, 'http://127.0.0.1');
  } catch {
    return null;
  }
}

const call = (name: string, args: object) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });

export const mcpArguments: FuzzTarget = {
  name: 'mcp',
  weight: 1,
  seeds: [
    call('state_set', { key: 'a', value: { b: 1 } }),
    call('state_get', { key: 'a' }),
    call('state_append', { key: 'list', items: [1] }),
    call('state_increment', { key: 'a' }),
    call('state_list', {}),
    call('write_workspace', { key: 'result', value: { a: [1] } }),
    call('read_workspace', { key: 'result' }),
    call('get_workspace_context', { keys: ['result'] }),
    call('workflow_checkpoint_save', { context: { goal: 'x', list: [1] } }),
    call('workflow_checkpoint_list', {}),
  ],
  words: [
    '"name"',
    '"arguments"',
    '"key"',
    '"value"',
    '"context"',
    '"keys"',
    '"limit"',
    '"version"',
    '"sessionId"',
    '"method"',
  ],
  async take(input) {
    const server = await now();
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'X-Session-Id': 'root',
    };
    const answer = await server.mcp.fetch(
      new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body: input }),
      OWNER,
    );
    const text = await answer.text();
    server.unexpected.length = 0; // what is no JSON-RPC is told there, too
    expectThat(
      !text.includes('"UNEXPECTED"') || input.includes('UNEXPECTED'),
      `a tool failed in an unexpected way: ${text.slice(0, 400)}`,
    );
    expectThat(answer.status < 500, `the answer is ${answer.status}: ${text.slice(0, 200)}`);
    return answer.status < 300 && !text.includes('"isError":true');
  },
  renew,
};
