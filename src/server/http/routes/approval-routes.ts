/** The inbox of approvals: calls of tools that wait for a person, and decisions on them. They take no lease. */
import { isJsonObject, type JsonObject } from '../../../core/json.js';
import { Type } from '../../../core/schema.js';
import {
  decideApproval,
  type WaitingApproval,
  waitingApprovals,
} from '../../../memory/approvals/waiting-approvals.js';
import { reachesAgent } from '../../access/principal.js';
import { JSON_TYPE, ok, type Route } from '../route.js';
import * as schemas from '../schemas.js';

const list: Route = {
  method: 'GET',
  path: '/approvals',
  reach: 'part',
  summary: 'Calls of tools that wait for a person, oldest request first',
  responses: { 200: { description: 'Of all agents that the caller reaches.', schema: schemas.approvalList } },
  async handle({ principal }, { backend }) {
    const waiting = await waitingApprovals(backend, undefined, (agent) => reachesAgent(principal, agent));
    return ok({ approvals: waiting.map(toWire) });
  },
};

const decide: Route = {
  method: 'POST',
  path: '/agents/{id}/approvals',
  reach: 'agent',
  summary: 'Approves or denies a call that waits. The first decision counts',
  body: {
    mediaType: JSON_TYPE,
    schema: Type.Object(
      {
        call_id: Type.String(),
        turn_id: Type.Optional(Type.String()),
        approved: Type.Boolean(),
        reason: Type.Optional(Type.String({ description: 'The model reads it if the call is denied.' })),
        arguments_sha256: Type.Optional(
          Type.String({ description: 'What the person saw. With other arguments, nothing is decided.' }),
        ),
      },
      { additionalProperties: false },
    ),
  },
  responses: {
    200: { description: 'The call with the decision. It is durable.', schema: schemas.approval },
    404: { description: 'There is no such agent.', schema: schemas.problemDetails },
    409: {
      description: 'It does not wait, was decided, expired, or has other arguments.',
      schema: schemas.problemDetails,
    },
  },
  async handle({ params, body, principal }, { backend }) {
    const given = isJsonObject(body) ? body : {};
    const { call_id: callId, turn_id: turnId, approved, reason, arguments_sha256: argumentsHash } = given;
    const optional = { turnId, reason, argumentsHash };
    const texts = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
    const call = await decideApproval(backend, {
      ...{ agentId: params['id']!, callId: String(callId), approved: approved === true, by: principal.name },
      ...(texts as Record<string, string>),
    });
    return ok(toWire(call));
  },
};

function toWire(waiting: WaitingApproval): JsonObject {
  const { requestedAt, expiresAt, decision } = waiting;
  return {
    agent_id: waiting.agentId,
    turn_id: waiting.turnId,
    call_id: waiting.callId,
    tool_name: waiting.toolName,
    arguments: waiting.arguments,
    arguments_sha256: waiting.argumentsHash,
    requested_at: moment(requestedAt),
    expires_at: expiresAt === null ? null : moment(expiresAt),
    decision: decision && { ...decision, at: moment(decision.at) },
  };
}

function moment(ms: number): string {
  return new Date(ms).toISOString();
}

export const approvalRoutes: readonly Route[] = [list, decide];
