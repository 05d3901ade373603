/** Read-only routes of checkpoints. */
import { CHECKPOINT_STATUSES } from '../../../checkpoints/session/checkpoint-record.js';
import type { SessionProblem } from '../../../checkpoints/session/session-pool.js';
import type { JsonObject, JsonValue } from '../../../core/json.js';
import { text, wholeNumber } from '../query.js';
import { assertReachesCheckpoint } from '../reach.js';
import { ok, type Route, type RouteRequest } from '../route.js';
import { inQuery, wholeInQuery } from '../route-parameters.js';
import * as schemas from '../schemas.js';
import { checkpointSessionToWire, checkpointToWire } from '../wire.js';

const LIMIT_MAX = 1_000;
const LIMIT = 100;
const notFound = { description: 'There is no such checkpoint or session.', schema: schemas.problemDetails };

function problemToWire({ sessionId, message }: SessionProblem): JsonObject {
  return { session_id: sessionId, message };
}

const sessions: Route = {
  method: 'GET',
  path: '/checkpoints/sessions',
  reach: 'store',
  summary: 'Sessions with checkpoints and their sizes, the most recently used first',
  responses: { 200: { description: 'The sessions.', schema: schemas.checkpointSessions } },
  async handle(_, { checkpoints }) {
    const [infos, stats] = [await checkpoints.sessions(), await checkpoints.stats()];
    return ok({
      sessions: infos.map(checkpointSessionToWire),
      total_size_bytes: stats.totalSizeBytes,
      max_total_size: stats.maxTotalSize,
      problems: stats.problems.map(problemToWire),
    });
  },
};

const list: Route = {
  method: 'GET',
  path: '/checkpoints',
  reach: 'part',
  summary: 'Checkpoints, newest first',
  parameters: [
    inQuery('session', 'Only of this session.'),
    inQuery('tag', 'Only with this tag.'),
    inQuery('agent', 'Only of this agent.'),
    inQuery('status', `${[...CHECKPOINT_STATUSES, 'all'].join(', ')}. Default: all except archived ones.`),
    inQuery('after', 'Only saved at this time or later: ISO 8601.'),
    inQuery('before', 'Only saved before this time.'),
    wholeInQuery('limit', `At most ${LIMIT_MAX}. Default ${LIMIT}.`),
    wholeInQuery('offset', 'Skip this many.'),
  ],
  responses: {
    200: { description: 'A page of them.', schema: schemas.checkpointList },
    404: notFound,
  },
  async handle(request, { checkpoints }) {
    const { agents } = request.principal;
    const own = agents === 'all' ? {} : { agentIds: agents };
    const page = await checkpoints.list({ ...queryOf(request), ...own });
    // Problems name sessions of any agent.
    const problems = agents === 'all' ? page.problems.map(problemToWire) : [];
    return ok({ total: page.total, checkpoints: page.checkpoints.map(checkpointToWire), problems });
  },
};

function queryOf(request: RouteRequest) {
  const limit = wholeNumber(request, 'limit', LIMIT_MAX, 1) ?? LIMIT;
  const offset = wholeNumber(request, 'offset') ?? 0;
  const given = {
    sessionId: text(request, 'session'),
    tag: text(request, 'tag'),
    agentId: text(request, 'agent'),
    status: text(request, 'status'),
    after: text(request, 'after'),
    before: text(request, 'before'),
  };
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...(Object.fromEntries(named) as { [field: string]: string }), limit, offset };
}

const read: Route = {
  method: 'GET',
  path: '/checkpoints/{id}',
  reach: 'checkpoint',
  summary: 'One checkpoint, without its context',
  responses: { 200: { description: 'The checkpoint.', schema: schemas.checkpoint }, 404: notFound },
  async handle({ params }, { checkpoints }) {
    return ok(checkpointToWire(await checkpoints.metadata({ checkpointId: params['id']! })));
  },
};

const context: Route = {
  method: 'GET',
  path: '/checkpoints/{id}/context',
  reach: 'checkpoint',
  summary: 'The context exactly as saved, or the part of it for a model within a token budget',
  parameters: [wholeInQuery('budget', 'In tokens.')],
  responses: { 200: { description: 'The context.', schema: schemas.checkpointContext }, 404: notFound },
  async handle(request, { checkpoints }) {
    const checkpointId = request.params['id']!;
    const budget = wholeNumber(request, 'budget', Number.MAX_SAFE_INTEGER, 1);
    if (budget === null) {
      const loaded = await checkpoints.load({ checkpointId });
      return ok({ checkpoint: checkpointToWire(loaded.metadata), context: loaded.context });
    }
    const view = await checkpoints.view({ checkpointId, budget });
    const checkpoint = checkpointToWire(await checkpoints.metadata({ checkpointId }));
    const { tokens, keys } = view;
    const about: JsonObject = { tokens, budget, keys: keys as unknown as JsonValue };
    return ok({ checkpoint, context: view.context, view: about });
  },
};

const diff: Route = {
  method: 'GET',
  path: '/checkpoints/{id}/diff/{to}',
  reach: 'checkpoint',
  summary: 'What changed from one checkpoint to another, as a JSON Patch',
  responses: { 200: { description: 'The changes.', schema: schemas.checkpointDiff }, 404: notFound },
  async handle({ principal, params }, { checkpoints }) {
    const [from, to] = [params['id']!, params['to']!];
    await assertReachesCheckpoint(principal, checkpoints, to);
    const changes = await checkpoints.diff(from, to);
    return ok({ from, to, changes: changes as unknown as JsonValue });
  },
};

export const checkpointRoutes: readonly Route[] = [sessions, list, read, context, diff];
