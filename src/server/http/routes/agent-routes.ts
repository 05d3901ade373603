/** Read-only routes of agents and their memory, and erasure. Reading takes no lease. */
import { erase } from '../../../agent/erasure/erase.js';
import { isRekindleError, RekindleError } from '../../../core/errors.js';
import type { JsonObject } from '../../../core/json.js';
import { Type } from '../../../core/schema.js';
import { O200kTokenCounter, type TokenCounter } from '../../../memory/compaction/token-counter.js';
import { requestParts } from '../../../memory/fit/request-parts.js';
import { listAgents, summarizeAgent } from '../../../memory/maintenance/agent-summary.js';
import { recentTraces } from '../../../memory/maintenance/recent-traces.js';
import { restoreDry } from '../../../memory/maintenance/restore-dry.js';
import { agentNotFound } from '../../../memory/open-memory.js';
import type { Repair } from '../../../messages/legality/repairs.js';
import type { Message } from '../../../messages/message.js';
import { messageToJson } from '../../../messages/message-serializer.js';
import type { ErasureTarget } from '../../../storage/erasure/erasure-marker.js';
import type { StorageBackend } from '../../../storage/ports.js';
import { type Principal, reachesAgent } from '../../access/principal.js';
import { wholeNumber } from '../query.js';
import { ok, type Route, type RouteRequest } from '../route.js';
import { inQuery } from '../route-parameters.js';
import * as schemas from '../schemas.js';
import { agentToWire } from '../wire.js';

const TRACES_MAX = 500;
const notFound = { description: 'There is no such agent.', schema: schemas.problemDetails };

const list: Route = {
  method: 'GET',
  path: '/agents',
  reach: 'part',
  summary: 'The agents in the memory folder',
  responses: { 200: { description: 'By id.', schema: schemas.agentList } },
  async handle({ principal }, { backend }) {
    const agents = await listAgents(backend, (agentId) => reachesAgent(principal, agentId));
    return ok({ agents: agents.map(agentToWire) });
  },
};

const read: Route = {
  method: 'GET',
  path: '/agents/{id}',
  reach: 'agent',
  summary: 'One agent',
  responses: { 200: { description: 'The agent.', schema: schemas.agentSummary }, 404: notFound },
  async handle({ params }, { backend }) {
    const agentId = params['id']!;
    const summary = await summarizeAgent(backend, agentId);
    if (summary) return ok(agentToWire(summary));
    throw agentNotFound(agentId);
  },
};

const restoreReport: Route = {
  method: 'GET',
  path: '/agents/{id}/restore-report',
  reach: 'agent',
  summary: 'What a restore would do now. Changes nothing',
  responses: { 200: { description: 'The report.', schema: schemas.restoreReport }, 404: notFound },
  async handle({ params }, { backend }) {
    const agentId = params['id']!;
    const report = await restoreDry(backend, agentId, (_memory, _messages, made) => made);
    return ok({ agent_id: agentId, report: report as unknown as JsonObject });
  },
};

const context: Route = {
  method: 'GET',
  path: '/agents/{id}/context',
  reach: 'agent',
  summary: 'The working context as a restore would give it, message by message',
  responses: { 200: { description: 'The messages, in order.', schema: schemas.agentContext }, 404: notFound },
  async handle({ params }, { backend }) {
    const agentId = params['id']!;
    const counter = new O200kTokenCounter();
    const { rows, parts } = await restoreDry(backend, agentId, async (_memory, messages, { repairs }) => ({
      rows: await describeMessages(messages, repairs, counter),
      parts: await requestParts(messages, 0, counter),
    }));
    const tokens = rows.reduce((sum, row) => sum + row.tokens, 0);
    return ok({ agent_id: agentId, tokens, parts: { ...parts }, messages: rows });
  },
};

const traces: Route = {
  method: 'GET',
  path: '/agents/{id}/traces',
  reach: 'agent',
  summary: 'The events of the conversation, newest first',
  parameters: [
    inQuery('before', 'Only traces with a lower number in the journal.', Type.Integer()),
    inQuery('limit', `At most ${TRACES_MAX}. Default 100.`, Type.Integer()),
  ],
  responses: {
    200: { description: 'With the place of the next page.', schema: schemas.agentTraces },
    404: notFound,
  },
  async handle(request, { backend }) {
    const agentId = request.params['id']!;
    const limit = wholeNumber(request, 'limit', TRACES_MAX, 1) ?? 100;
    const before = wholeNumber(request, 'before');
    const page = await recentTraces(backend, agentId, { limit, ...(before === null ? {} : { before }) });
    const rows = page.traces.map(({ number, row }) => ({ number, ...row }));
    return ok({ agent_id: agentId, traces: rows, before: page.before });
  },
};

const trueOrFalse = Type.Union([Type.Literal('true'), Type.Literal('false')]);

const remove: Route = {
  method: 'DELETE',
  path: '/agents/{id}',
  reach: 'agent',
  summary: 'Permanently erases all data of an agent',
  parameters: [
    inQuery('dry_run', '`true`: only reports what would be erased.', trueOrFalse),
    inQuery('keep_forks', '`true`: erases although forks of the agent keep copies.', trueOrFalse),
  ],
  responses: {
    200: { description: 'Each place, before and after.', schema: schemas.erasureReport },
    404: notFound,
    409: {
      description: 'Checkpoints or forks may hold what would be erased. Nothing was changed.',
      schema: schemas.problemDetails,
    },
    503: { description: 'The agent is open. Nothing was changed.', schema: schemas.problemDetails },
  },
  handle: (request, { backend }) => erased(backend, { agent: request.params['id']! }, request),
};

const removeTurn: Route = {
  ...remove,
  path: '/agents/{id}/turns/{turn}',
  summary: 'Permanently erases one turn, and what was made from it',
  handle(request, { backend }) {
    const { id, turn: given } = request.params;
    const turn = /^\d{1,15}$/.test(given!) ? Number(given) : given!;
    return erased(backend, { agent: id!, turn }, request);
  },
};

async function erased(
  backend: StorageBackend,
  target: ErasureTarget,
  { query, principal }: Pick<RouteRequest, 'query' | 'principal'>,
) {
  const options = { dryRun: isTrue(query, 'dry_run'), keepForks: isTrue(query, 'keep_forks') };
  const { dryRun, places, ...rest } = await erase(backend, target, options).catch((thrown: unknown) => {
    throw withReachedForks(thrown, principal);
  });
  return ok({ ...rest, dry_run: dryRun, places } as unknown as JsonObject);
}

/** A caller learns only the names of forks that its token reaches. */
function withReachedForks(thrown: unknown, principal: Principal): unknown {
  if (!isRekindleError(thrown, 'ERASURE_REFUSED') || !Array.isArray(thrown.details['forks'])) return thrown;
  const forks = thrown.details['forks'].filter((fork) => reachesAgent(principal, String(fork)));
  const { code, message, details, advice } = thrown;
  return new RekindleError(code, message, { details: { ...details, forks }, advice });
}

/** @throws INVALID_ARGUMENT */
function isTrue(query: URLSearchParams, field: string): boolean {
  const given = query.get(field) ?? 'false';
  if (given === 'true' || given === 'false') return given === 'true';
  throw new RekindleError('INVALID_ARGUMENT', `\`${field}\` is \`true\` or \`false\`.`, {
    details: { field },
  });
}

export const agentRoutes: readonly Route[] = [list, read, restoreReport, context, traces, remove, removeTurn];

async function describeMessages(
  messages: readonly Message[],
  repairs: readonly Repair[],
  counter: TokenCounter,
) {
  const rows = [];
  for (const [index, message] of messages.entries()) {
    const codes = repairs.filter((repair) => repair.messageIndex === index).map(({ code }) => code);
    const tokens = await counter.countMessages([message]);
    rows.push({ index, tokens, repairs: codes as string[], message: messageToJson(message) });
  }
  return rows;
}
