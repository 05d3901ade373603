/** Workspaces, for reading: entries with their versions, tool calls, sessions and plans. */
import { RekindleError } from '../../../core/errors.js';
import type { JsonObject, JsonValue } from '../../../core/json.js';
import type { ToolCallQuery } from '../../../workspace/tool-calls/call-matcher.js';
import { keyReaders } from '../../../workspace/tool-calls/key-readers.js';
import type { ToolCallRecord } from '../../../workspace/tool-calls/tool-call-record.js';
import type { EntryVersion } from '../../../workspace/workspace.js';
import { text, wholeNumber } from '../query.js';
import { ok, type Route } from '../route.js';
import { inQuery, wholeInQuery } from '../route-parameters.js';
import { problemDetails } from '../schemas.js';
import * as schemas from '../workspace-schemas.js';

const ENTRIES_MAX = 10_000;
const ENTRIES = 1_000;
const VERSIONS_MAX = 500;
const VERSIONS = 50;
const CALLS_MAX = 500;
const CALLS = 50;
const SESSIONS_MAX = 1_000;
const SESSIONS = 100;
const notFound = {
  description: 'There is no such workspace, entry, version, plan or value.',
  schema: problemDetails,
};

const list: Route = {
  method: 'GET',
  path: '/workspaces',
  reach: 'store',
  summary: 'The workspaces of the store',
  responses: { 200: { description: 'Their ids.', schema: schemas.workspaceList } },
  async handle(_, { workspaces }) {
    return ok({ workspaces: await workspaces.ids() });
  },
};

const entries: Route = {
  method: 'GET',
  path: '/workspaces/{workspace}/entries',
  reach: 'store',
  summary: 'The entries of a workspace without their values, by key',
  parameters: [
    inQuery('deleted', '`true`: also deleted ones.'),
    wholeInQuery('limit', `At most ${ENTRIES_MAX}. Default ${ENTRIES}.`, 1),
    wholeInQuery('offset', 'Skip this many.'),
  ],
  responses: { 200: { description: 'A page of them.', schema: schemas.entryList }, 404: notFound },
  async handle(request, { workspaces }) {
    const workspace = await workspaces.byId(request.params['workspace']!);
    const limit = wholeNumber(request, 'limit', ENTRIES_MAX, 1) ?? ENTRIES;
    const offset = wholeNumber(request, 'offset') ?? 0;
    const infos = await workspace.list({ deleted: text(request, 'deleted') === 'true' });
    const { totalWrites, byAgent } = await workspace.timing();
    const agents = Object.entries(byAgent).map(([agent, { writes, firstAt, lastAt }]) => {
      return { agent, writes, first_write_at: firstAt, last_write_at: lastAt };
    });
    const shown = infos.slice(offset, offset + limit).map(
      ({ key, version, writtenBy, at, sizeBytes, deleted }): JsonObject => ({
        ...{ key, version, written_by: writtenBy, written_at: at, size_bytes: sizeBytes, deleted },
      }),
    );
    return ok({ total: infos.length, writes: totalWrites, agents, entries: shown });
  },
};

const entry: Route = {
  method: 'GET',
  path: '/workspaces/{workspace}/entries/{key}',
  reach: 'store',
  summary: 'One entry with its value, the newest version or an older one',
  parameters: [wholeInQuery('version', 'Default: the newest, a deletion included.', 1)],
  responses: { 200: { description: 'The entry.', schema: schemas.entry }, 404: notFound },
  async handle(request, { workspaces }) {
    const workspace = await workspaces.byId(request.params['workspace']!);
    const key = request.params['key']!;
    const version = wholeNumber(request, 'version', Number.MAX_SAFE_INTEGER, 1);
    const found =
      version === null ? (await workspace.history(key, 1))[0] : await workspace.readVersion(key, version);
    if (!found)
      throw missing(`entry ${JSON.stringify(key)}${version === null ? '' : ` at version ${version}`}`);
    return ok({ ...versionToWire(found), ...(found.value === undefined ? {} : { value: found.value }) });
  },
};

const history: Route = {
  method: 'GET',
  path: '/workspaces/{workspace}/entries/{key}/history',
  reach: 'store',
  summary: 'The versions of an entry without their values, newest first',
  parameters: [wholeInQuery('limit', `At most ${VERSIONS_MAX}. Default ${VERSIONS}.`, 1)],
  responses: { 200: { description: 'The versions.', schema: schemas.entryHistory }, 404: notFound },
  async handle(request, { workspaces }) {
    const workspace = await workspaces.byId(request.params['workspace']!);
    const key = request.params['key']!;
    const limit = wholeNumber(request, 'limit', VERSIONS_MAX, 1) ?? VERSIONS;
    const versions = await workspace.history(key, limit);
    if (versions.length === 0) throw missing(`entry ${JSON.stringify(key)}`);
    return ok({ key, versions: versions.map(versionToWire) });
  },
};

const diff: Route = {
  method: 'GET',
  path: '/workspaces/{workspace}/entries/{key}/diff',
  reach: 'store',
  summary: 'What changed from one version of an entry to another, as a JSON Patch',
  parameters: [wholeInQuery('from', 'A version.', 1), wholeInQuery('to', 'A version.', 1)],
  responses: { 200: { description: 'The changes.', schema: schemas.entryDiff }, 404: notFound },
  async handle(request, { workspaces }) {
    const workspace = await workspaces.byId(request.params['workspace']!);
    const key = request.params['key']!;
    const [from, to] = ['from', 'to'].map((name) => wholeNumber(request, name, Number.MAX_SAFE_INTEGER, 1));
    if (from === null || from === undefined || to === null || to === undefined)
      throw new RekindleError('INVALID_ARGUMENT', 'from and to are needed: two versions of the entry.', {
        details: { field: 'from' },
      });
    const changes = (await workspace.diff(key, from, to)) as unknown as JsonValue;
    return ok({ key, from, to, changes });
  },
};

const calls: Route = {
  method: 'GET',
  path: '/workspace/calls',
  reach: 'store',
  summary: 'Calls of the tool-call log, newest first',
  parameters: [
    inQuery('text', 'In the input, the output or the error, in any case.'),
    inQuery('tool', 'Only of this tool.'),
    inQuery('agent', 'Only of this agent.'),
    inQuery('session', 'Only of this session.'),
    inQuery('status', '`ok` or `error`.'),
    wholeInQuery('limit', `At most ${CALLS_MAX}. Default ${CALLS}.`, 1),
  ],
  responses: { 200: { description: 'The calls.', schema: schemas.toolCalls } },
  async handle(request, { workspaces }) {
    const limit = wholeNumber(request, 'limit', CALLS_MAX, 1) ?? CALLS;
    const status = text(request, 'status');
    if (status !== undefined && status !== 'ok' && status !== 'error')
      throw new RekindleError('INVALID_ARGUMENT', 'status is ok or error.', { details: { field: 'status' } });
    const given = Object.fromEntries(
      ['text', 'tool', 'agent', 'session'].flatMap((name) => {
        const value = text(request, name);
        return value === undefined || value === '' ? [] : [[name, value]];
      }),
    ) as { readonly [field: string]: string };
    const query: ToolCallQuery = { ...given, limit, ...(status === undefined ? {} : { status }) };
    return ok({ calls: (await workspaces.log.search(query)).map(callToWire) });
  },
};

const value: Route = {
  method: 'GET',
  path: '/workspace/values/{ref}',
  reach: 'store',
  summary: 'A large input or output of a logged call',
  responses: { 200: { description: 'Its JSON text.', schema: schemas.storedValue }, 404: notFound },
  async handle({ params }, { workspaces }) {
    const ref = params['ref']!;
    const found = await workspaces.log.value(ref);
    if (found === null) throw missing(`value ${JSON.stringify(ref)}`);
    return ok({ ref, text: found });
  },
};

const readers: Route = {
  method: 'GET',
  path: '/workspace/readers',
  reach: 'store',
  summary: 'Which agents read which entries with tools, from the newest calls of the log',
  responses: { 200: { description: 'By agent and key.', schema: schemas.readers } },
  async handle(_, { workspaces }) {
    const found = (await keyReaders(workspaces.log)).map(({ agent, key, reads, lastReadAt }) => {
      return { agent, key, reads, last_read_at: lastReadAt };
    });
    return ok({ readers: found });
  },
};

const sessions: Route = {
  method: 'GET',
  path: '/workspace/sessions',
  reach: 'store',
  summary: 'The sessions of the workspace with their agents, the newest first',
  parameters: [wholeInQuery('limit', `At most ${SESSIONS_MAX}. Default ${SESSIONS}.`, 1)],
  responses: { 200: { description: 'The sessions.', schema: schemas.workspaceSessions } },
  async handle(request, { workspaces }) {
    const limit = wholeNumber(request, 'limit', SESSIONS_MAX, 1) ?? SESSIONS;
    const found = await workspaces.sessions.list({ limit });
    const current = await workspaces.sessions.current();
    return ok({
      current: current?.id ?? null,
      sessions: found.map(({ id, title, status, startedAt, lastActiveAt, endedAt, resumed, agents }) => ({
        ...{
          id,
          title,
          status,
          started_at: startedAt,
          last_active_at: lastActiveAt,
          ended_at: endedAt,
          resumed,
        },
        agents: agents.map(({ name, agentId }) => ({ name, agent_id: agentId })),
      })),
    });
  },
};

const plans: Route = {
  method: 'GET',
  path: '/workspace/plans',
  reach: 'store',
  summary: 'The current plan, and the names of archived ones',
  responses: { 200: { description: 'The plans.', schema: schemas.plans } },
  async handle(_, { workspaces }) {
    const [current, archived] = [await workspaces.plans.current(), await workspaces.plans.archived()];
    return ok({ current, archived });
  },
};

const plan: Route = {
  method: 'GET',
  path: '/workspace/plans/{name}',
  reach: 'store',
  summary: 'An archived plan',
  responses: { 200: { description: 'Its text.', schema: schemas.plan }, 404: notFound },
  async handle({ params }, { workspaces }) {
    const name = params['name']!;
    const isThere = (await workspaces.plans.archived()).includes(name);
    const found = isThere ? await workspaces.plans.read(name) : null;
    if (found === null) throw missing(`plan ${JSON.stringify(name)}`);
    return ok({ name, text: found });
  },
};

export const workspaceRoutes: readonly Route[] = [
  list,
  entries,
  entry,
  history,
  diff,
  calls,
  value,
  readers,
  sessions,
  plans,
  plan,
];

function versionToWire({ key, version, writtenBy, at, event, from }: EntryVersion): JsonObject {
  return { key, version, written_by: writtenBy, written_at: at, event, from };
}

function callToWire(call: ToolCallRecord): JsonObject {
  const { callId, tool, agent, session, turnId, startedAt, durationMs, status, input, output, error } = call;
  return {
    ...{
      call_id: callId,
      tool,
      agent,
      session,
      turn_id: turnId,
      started_at: startedAt,
      duration_ms: durationMs,
    },
    ...{ status, input, output, error, input_ref: call.inputRef, output_ref: call.outputRef },
  };
}

function missing(what: string): RekindleError {
  return new RekindleError('ENTRY_NOT_FOUND', `There is no ${what}.`, { details: {} });
}
