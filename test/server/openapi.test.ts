/** The OpenAPI document: what it says is what is served. */
import { describe, expect, it } from 'vitest';
import { CheckpointService } from '../../src/checkpoints/checkpoint-service.js';
import type { JsonObject, JsonValue } from '../../src/core/json.js';
import { compileSchema } from '../../src/core/schema-check.js';
import { createAgent, ScriptedModel } from '../../src/index.js';
import { allRoutes } from '../../src/server/http/routes/all-routes.js';
import { taskBoard } from '../../src/state/durable/documents/task-board.js';
import { StateManager } from '../../src/state/durable/state-manager.js';
import { Plans } from '../../src/workspace/plans.js';
import { SessionManager } from '../../src/workspace/sessions/session-manager.js';
import { ToolCallLog } from '../../src/workspace/tool-calls/tool-call-log.js';
import { Workspace } from '../../src/workspace/workspace.js';
import { type Answer, ask, MERGE_TYPE, type ServerKit, serverKit, waitingAgent } from './server-kit.js';

interface Operation {
  readonly summary: string;
  readonly operationId: string;
  readonly security?: JsonObject[];
  readonly parameters: {
    name: string;
    in: string;
    required: boolean;
    description: string;
    schema: JsonObject;
  }[];
  readonly requestBody?: { required: boolean; content: Record<string, { schema: JsonObject }> };
  readonly responses: Record<
    string,
    { description: string; content?: Record<string, { schema: JsonObject }> }
  >;
}

interface Document {
  readonly openapi: string;
  readonly info: { title: string; version: string };
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: JsonObject;
  readonly security: JsonObject[];
}

async function documentOf(kit: ServerKit): Promise<Document> {
  return (await kit.get('/openapi.json')).json as unknown as Document;
}

function targetOf(
  path: string,
  { id = 'root', key = 'k', to = 'root@1', name = 'task_board', ref = 'sha256:0' }: Tour = {},
): string {
  const names = { id, key, to, name, ref, turn: '1', workspace: 'store' };
  return path.replace(
    /\{(id|key|to|name|ref|turn|workspace)\}/g,
    (_, name: keyof typeof names) => names[name],
  );
}

function operationsOf({ paths }: Document): { path: string; method: string; operation: Operation }[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

const text = { type: 'string', minLength: 1 };
const schemaObject = { type: 'object' };
const content = {
  type: 'object',
  minProperties: 1,
  additionalProperties: { type: 'object', required: ['schema'], properties: { schema: schemaObject } },
};
const response = {
  type: 'object',
  required: ['description'],
  properties: { description: text, content },
  additionalProperties: false,
};
const operationSchema = {
  type: 'object',
  required: ['summary', 'operationId', 'responses'],
  additionalProperties: false,
  properties: {
    summary: text,
    operationId: { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9]*$' },
    security: { type: 'array' },
    parameters: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'in', 'schema', 'description'],
        additionalProperties: false,
        properties: {
          name: text,
          in: { enum: ['path', 'query', 'header'] },
          required: { type: 'boolean' },
          description: text,
          schema: schemaObject,
        },
        if: { properties: { in: { const: 'path' } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { properties: { required: { const: true } } },
      },
    },
    requestBody: {
      type: 'object',
      required: ['content'],
      properties: { required: { type: 'boolean' }, content },
    },
    responses: {
      type: 'object',
      minProperties: 1,
      additionalProperties: false,
      patternProperties: { '^([1-5]\\d\\d|default)$': response },
    },
  },
};
/** What OpenAPI 3.1 asks of the parts that are used here. */
const documentSchema: JsonObject = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  additionalProperties: false,
  properties: {
    openapi: { type: 'string', pattern: '^3\\.1\\.\\d+$' },
    info: { type: 'object', required: ['title', 'version'], properties: { title: text, version: text } },
    security: { type: 'array', items: { type: 'object' } },
    components: {
      type: 'object',
      properties: {
        securitySchemes: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            required: ['type', 'scheme'],
            properties: { type: { const: 'http' }, scheme: { const: 'bearer' } },
          },
        },
      },
    },
    paths: {
      type: 'object',
      additionalProperties: false,
      patternProperties: {
        '^/': {
          type: 'object',
          additionalProperties: false,
          patternProperties: { '^(get|put|post|patch|delete)$': operationSchema },
        },
      },
    },
  },
};

describe('the document', () => {
  it('is OpenAPI 3.1, and every schema in it compiles', async () => {
    const document = await documentOf(await serverKit());
    const check = compileSchema(documentSchema);
    expect(check(document) ? [] : check.violations()).toEqual([]);
    for (const { operation } of operationsOf(document)) {
      for (const { schema } of operation.parameters) compileSchema(schema);
      for (const part of [operation.requestBody, ...Object.values(operation.responses)])
        for (const { schema } of Object.values(part?.content ?? {})) compileSchema(schema);
    }
  });

  it('gives each operation its own id, and declares each parameter of a path once', async () => {
    const operations = operationsOf(await documentOf(await serverKit()));
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { path, operation } of operations) {
      const declared = operation.parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      expect(declared).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
      const all = operation.parameters.map((one) => `${one.in} ${one.name.toLowerCase()}`);
      expect(new Set(all).size).toBe(all.length);
    }
  });

  it('names only security schemes that it declares', async () => {
    const document = await documentOf(await serverKit());
    const declared = Object.keys((document.components['securitySchemes'] ?? {}) as JsonObject);
    const used = [
      document.security,
      ...operationsOf(document).map(({ operation }) => operation.security ?? []),
    ];
    expect(used.flat().flatMap((one) => Object.keys(one))).toEqual(declared);
  });

  it('lists every route that is served', async () => {
    const listed = operationsOf(await documentOf(await serverKit()));
    const served = allRoutes.map(({ method, path }) => `${method} ${path}`);
    expect(listed.map(({ path, method }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(served.sort());
  });

  it('lists only what is served, and methods that it does not list are refused', async () => {
    const kit = await serverKit();
    await kit.put('k', 1);
    const document = await documentOf(kit);
    for (const [path, methods] of Object.entries(document.paths)) {
      const target = targetOf(path);
      for (const method of ['get', 'put', 'post', 'patch', 'delete']) {
        const { status, json } = await kit.call(method.toUpperCase(), target);
        const reason = (json['details'] as JsonObject | undefined)?.['reason'];
        const isServed = status !== 405 && reason !== 'route';
        expect([method, path, isServed]).toEqual([method, path, method in methods]);
      }
    }
  });

  it('says which routes need no token', async () => {
    const kit = await serverKit();
    for (const { path, method, operation } of operationsOf(await documentOf(kit))) {
      const target = targetOf(path);
      const { status } = await ask(kit.port, method.toUpperCase(), target, {
        headers: { Authorization: null },
      });
      expect([path, status === 401]).toEqual([path, operation.security?.length !== 0]);
    }
  });
});

describe('a reply', () => {
  it('of every route, and of every kind, is as the document says', async () => {
    const kit = await serverKit({ limits: { depth: 5, history: 5 }, metrics: true });
    const document = await documentOf(kit);
    const seen = new Set<string>();
    const step = async (method: string, path: string, tour: Tour = {}) => {
      const target = targetOf(path, tour);
      const asked = {
        headers: tour.headers ?? {},
        ...(tour.body === undefined ? {} : { body: tour.body }),
      };
      const answer = await kit.call(method, `${target}${tour.query ?? ''}`, asked);
      expect(wrongIn(document, method, path, answer)).toEqual([]);
      seen.add(`${method} ${path}`);
      return answer.status;
    };
    await tourOf(kit, step);
    expect([...seen].sort()).toEqual(allRoutes.map(({ method, path }) => `${method} ${path}`).sort());
  });
});

interface Tour {
  readonly id?: string;
  readonly key?: string;
  readonly to?: string;
  readonly name?: string;
  readonly ref?: string;
  readonly query?: string;
  readonly body?: JsonValue;
  readonly headers?: Record<string, string>;
}

function wrongIn(document: Document, method: string, path: string, answer: Answer): unknown[] {
  const { responses } = document.paths[path]![method.toLowerCase()]!;
  const declared = responses[String(answer.status)];
  // What is not listed by its number is a problem, never a success.
  if (!declared && answer.status < 400) return [`${method} ${path}: ${answer.status} is not listed`];
  const told = declared ?? responses['default']!;
  if (!told.content) return answer.text === '' ? [] : [`${method} ${path}: a body where none is said`];
  const [type = '', { schema } = { schema: {} }] = Object.entries(told.content)[0] ?? [];
  if (answer.headers['content-type'] !== type)
    return [`${method} ${path} ${answer.status}: ${answer.headers['content-type']}, not ${type}`];
  const check = compileSchema(schema);
  const body = type.startsWith('text/') ? answer.text : answer.json;
  return check(body) ? [] : check.violations();
}

const STATE = '/sessions/{id}/state';
const KEY = `${STATE}/keys/{key}`;
const CHECKPOINT = '/checkpoints/{id}';
const DOCUMENT = '/documents/{name}';
const APPROVALS = '/agents/{id}/approvals';
const ENTRIES = '/workspaces/{workspace}/entries';

/** An entry with two versions, a logged call with a large value, a session and an archived plan. */
async function workspaceOf({ backend }: ServerKit): Promise<{ ref: string; plan: string }> {
  const workspace = new Workspace(backend);
  const log = new ToolCallLog(backend);
  const sessions = new SessionManager(backend);
  const plans = new Plans(backend, ['workspace']);
  await workspace.write('plan', { a: [1] }, { agent: 'ada' });
  await workspace.delete('plan', { agent: 'ada' });
  const call = {
    callId: 'c',
    tool: 'read_from_workspace',
    agent: 'a',
    error: null,
    startedMs: 0,
    durationMs: 1,
  };
  await log.record({ ...call, input: { key: 'plan', more: 'x'.repeat(9_000) }, output: [null] });
  await sessions.create({ title: 't', agents: [{ name: 'n', agentId: 'ada' }] });
  await plans.write('# one');
  const plan = await plans.write('# two');
  const [found] = await log.search();
  for (const one of [workspace, log, sessions, plans]) await one.close();
  return { ref: found!.inputRef!, plan: plan! };
}

async function tourOf(
  kit: ServerKit,
  step: (method: string, path: string, tour?: Tour) => Promise<number>,
): Promise<void> {
  const agent = createAgent({
    agentId: 'ada',
    memoryDir: kit.dir,
    model: new ScriptedModel([{ text: 'hi' }]),
  });
  await agent.start();
  await agent.send('hello');
  await agent.stop();
  await waitingAgent(kit.dir, 'eva');
  const turn = '/agents/{id}/turns/{turn}';
  const dry = { id: 'ada', query: '?dry_run=true' };
  const whole = await step('DELETE', turn, dry);
  await twoCheckpoints(kit);
  await board(kit);
  const { ref, plan } = await workspaceOf(kit);
  const big = 'x'.repeat(120_000);
  const merge = { 'Content-Type': MERGE_TYPE };
  const statuses = [
    whole,
    await step('GET', '/health'),
    await step('GET', '/ready'),
    await step('GET', '/metrics'),
    await step('GET', '/openapi.json'),
    await step('POST', '/sessions', { body: { id: 'c', parent: 'root', agent: 'ada', status: 'running' } }),
    await step('PUT', '/sessions/{id}/status', { body: { status: 'failed', why: 'x' } }),
    await step('GET', '/sessions'),
    await step('GET', '/sessions/{id}'),
    await step('GET', '/orphans'),
    await step('PUT', KEY, { body: { value: { a: [null] } } }),
    await step('PUT', KEY, { key: '%0A', body: { value: null } }),
    await step('POST', `${KEY}/ops`, { key: 'n', body: { operation: 'increment' } }),
    await step('POST', `${STATE}/batch`, { body: { operations: [{ op: 'delete', key: 'n' }] } }),
    await step('PATCH', STATE, { body: { p: 1 }, headers: merge }),
    await step('GET', STATE),
    await step('GET', STATE, { query: '?at=1' }),
    await step('GET', KEY),
    await step('GET', `${KEY}/history`, { key: 'n' }),
    await step('GET', `${STATE}/changes`),
    await step('GET', `${STATE}/changes`, { query: '?key=k&session=root&before=9&limit=2' }),
    await step('GET', `${STATE}/events`),
    ...['', '/{id}', '/{id}/restore-report', '/{id}/context', '/{id}/traces'].map(() => 200),
    await step('GET', '/checkpoints/sessions'),
    await step('GET', '/checkpoints'),
    await step('GET', '/checkpoints', { query: '?session=flow&tag=t&after=2026-01-01&limit=1&offset=0' }),
    await step('GET', CHECKPOINT, { id: 'flow@1' }),
    await step('GET', CHECKPOINT, { id: 'flow@2' }),
    await step('GET', `${CHECKPOINT}/context`, { id: 'flow@2' }),
    await step('GET', `${CHECKPOINT}/context`, { id: 'flow@2', query: '?budget=40' }),
    await step('GET', `${CHECKPOINT}/diff/{to}`, { id: 'flow@1', to: 'flow@2' }),
    await step('GET', '/documents'),
    await step('PATCH', DOCUMENT, { body: { tasks: [] }, headers: merge }),
    await step('GET', DOCUMENT),
    await step('GET', DOCUMENT, { query: '?at=1' }),
    await step('GET', `${DOCUMENT}/history`, { query: '?limit=1' }),
    await step('GET', `${DOCUMENT}/schema`),
    await step('GET', '/workspaces'),
    await step('GET', ENTRIES),
    await step('GET', `${ENTRIES}/{key}`, { key: 'plan' }),
    await step('GET', `${ENTRIES}/{key}`, { key: 'plan', query: '?version=1' }),
    await step('GET', `${ENTRIES}/{key}/history`, { key: 'plan' }),
    await step('GET', `${ENTRIES}/{key}/diff`, { key: 'plan', query: '?from=1&to=2' }),
    await step('GET', '/workspace/calls'),
    await step('GET', '/workspace/calls', {
      query: '?text=x&tool=read_from_workspace&agent=a&status=ok&limit=1',
    }),
    await step('GET', '/workspace/values/{ref}', { ref }),
    await step('GET', '/workspace/readers'),
    await step('GET', '/workspace/sessions'),
    await step('GET', '/workspace/plans'),
    await step('GET', '/workspace/plans/{name}', { name: plan }),
  ];
  for (const part of ['', '/{id}', '/{id}/restore-report', '/{id}/context', '/{id}/traces'])
    statuses.push(await step('GET', `/agents${part}`, { id: 'ada' }));
  statuses.push(
    await step('GET', '/agents/{id}/search', { id: 'ada', query: '?q=hello&limit=1' }),
    await step('GET', '/agents/{id}/passages', { id: 'ada', query: '?from_turn=1' }),
    await step('GET', '/agents/{id}/answer', { id: 'ada', query: '?after=0' }),
    await step('GET', '/approvals'),
    await step('POST', APPROVALS, { id: 'eva', body: { call_id: 'call_1_1', approved: true } }),
  );
  expect(new Set(statuses)).toEqual(new Set([200, 201]));
  const operations = [
    { op: 'set', key: 'k', value: 1, if_match: 9 },
    { op: 'increment', key: 'z' },
  ];
  const refused = [
    [409, await step('POST', '/sessions', { body: { id: 'c' } })],
    [404, await step('POST', '/sessions', { body: { parent: 'none' } })],
    [400, await step('POST', '/sessions', { body: { x: 1 } })],
    [409, await step('PUT', '/sessions/{id}/status', { body: { status: 'idle' } })],
    [404, await step('GET', '/sessions/{id}', { id: 'none' })],
    [404, await step('GET', STATE, { id: 'none' })],
    [304, await step('GET', STATE, { headers: { 'If-None-Match': '*' } })],
    [304, await step('GET', KEY, { headers: { 'If-None-Match': '*' } })],
    [404, await step('GET', KEY, { key: 'none' })],
    [409, await step('PUT', KEY, { body: { value: 1 }, headers: { 'If-Match': '"9"' } })],
    [422, await step('PUT', KEY, { body: { value: [[[[[[1]]]]]] } })],
    [422, await step('POST', `${KEY}/ops`, { body: { operation: 'increment' } })],
    [409, await step('POST', `${STATE}/batch`, { body: { operations } })],
    [409, await step('PATCH', STATE, { body: { a: 1 }, headers: { ...merge, 'If-Match': '"99"' } })],
    [415, await step('PATCH', STATE, { body: { a: 1 } })],
    [409, await step('DELETE', KEY, { headers: { 'If-Match': '"9"' } })],
    [204, await step('DELETE', KEY)],
    [404, await step('DELETE', KEY)],
    [404, await step('GET', '/agents/{id}', { id: 'none' })],
    [404, await step('DELETE', '/agents/{id}', { id: 'none' })],
    [200, await step('DELETE', '/agents/{id}', { id: 'ada', query: '?dry_run=true' })],
    [404, await step('DELETE', turn, { id: 'none' })],
    [409, await step('DELETE', turn, dry)], // the checkpoints may hold it
    [400, await step('GET', '/agents/{id}/traces', { id: 'ada', query: '?limit=x' })],
    [404, await step('GET', '/agents/{id}/search', { id: 'none', query: '?q=hello' })],
    [400, await step('GET', '/agents/{id}/search', { id: 'ada' })],
    [404, await step('GET', '/agents/{id}/passages', { id: 'none', query: '?record=1' })],
    [400, await step('GET', '/agents/{id}/passages', { id: 'ada' })],
    [404, await step('GET', '/agents/{id}/answer', { id: 'none' })],
    [404, await step('POST', APPROVALS, { id: 'none', body: { call_id: 'a', approved: true } })],
    [409, await step('POST', APPROVALS, { id: 'ada', body: { call_id: 'a', approved: true } })],
    [400, await step('POST', APPROVALS, { id: 'ada', body: { call_id: 'a' } })],
    [400, await step('GET', '/agents/{id}/answer', { id: 'ada', query: '?wait_ms=x' })],
    [404, await step('GET', '/checkpoints', { query: '?session=none' })],
    [400, await step('GET', '/checkpoints', { query: '?after=yesterday' })],
    [404, await step('GET', CHECKPOINT, { id: 'none' })],
    [404, await step('GET', `${CHECKPOINT}/context`, { id: 'none@1' })],
    [400, await step('GET', `${CHECKPOINT}/context`, { id: 'flow@1', query: '?budget=0' })],
    [404, await step('GET', `${CHECKPOINT}/diff/{to}`, { id: 'flow@1', to: 'flow@9' })],
    [404, await step('GET', DOCUMENT, { name: 'none' })],
    [404, await step('GET', DOCUMENT, { query: '?at=9' })],
    [304, await step('GET', DOCUMENT, { headers: { 'If-None-Match': '"1"' } })],
    [409, await step('PATCH', DOCUMENT, { body: {}, headers: { ...merge, 'If-Match': '"9"' } })],
    [422, await step('PATCH', DOCUMENT, { body: { tasks: 1 }, headers: merge })],
    [404, await step('GET', `${DOCUMENT}/history`, { name: 'none' })],
    [404, await step('GET', `${DOCUMENT}/schema`, { name: 'none' })],
  ];
  for (let index = 0; index < 30; index += 1) await kit.put('big', `${big}${index}`);
  refused.push(
    [410, await step('GET', `${STATE}/events`)],
    [410, await step('GET', STATE, { query: '?at=0' })],
  );
  expect(refused.map(([, status]) => status)).toEqual(refused.map(([wanted]) => wanted));
}

async function board({ backend }: ServerKit): Promise<void> {
  await (await StateManager.open({ ...taskBoard, backend })).close();
}

/** One with everything that can be said of it, and one with nothing. */
async function twoCheckpoints({ backend }: ServerKit): Promise<void> {
  const checkpoints = new CheckpointService({ backend });
  const session = { sessionId: 'flow', workflowId: 'w' };
  const about = { agentId: 'ada', kind: 'own', critical: true, metadata: { name: 'n', tags: ['t'] } };
  await checkpoints.save({ ...session, ...about, context: { goal: 'ship', gone: 1, n: 1 } });
  await checkpoints.save({ sessionId: 'flow', context: { goal: 'ship', n: 2, more: ['x'.repeat(2_000)] } });
  await checkpoints.close();
}
