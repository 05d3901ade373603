/** Every route, in the order of the OpenAPI document. */
import { Type } from '../../../core/schema.js';
import { openApiDocument } from '../openapi.js';
import { ok, type Route } from '../route.js';
import { agentRoutes } from './agent-routes.js';
import { agentSearchRoutes } from './agent-search-routes.js';
import { answerRoute } from './answer-route.js';
import { changeRoutes } from './change-routes.js';
import { checkpointRoutes } from './checkpoint-routes.js';
import { documentRoutes } from './document-routes.js';
import { sessionRoutes } from './session-routes.js';
import { stateRoutes } from './state-routes.js';
import { workspaceRoutes } from './workspace-routes.js';

const health: Route = {
  method: 'GET',
  path: '/health',
  reach: 'everyone',
  summary: 'Whether the server responds. Needs no token, and returns nothing else',
  needsToken: false,
  responses: { 200: { description: 'It does.', schema: Type.Object({ status: Type.Literal('ok') }) } },
  async handle() {
    return ok({ status: 'ok' });
  },
};

const openApi: Route = {
  method: 'GET',
  path: '/openapi.json',
  reach: 'everyone',
  summary: 'This document',
  responses: { 200: { description: 'OpenAPI 3.1.', schema: Type.Object({ openapi: Type.String() }) } },
  async handle() {
    return ok(openApiDocument(allRoutes));
  },
};

export const allRoutes: readonly Route[] = [
  health,
  openApi,
  ...sessionRoutes,
  ...stateRoutes,
  ...changeRoutes,
  ...agentRoutes,
  ...agentSearchRoutes,
  answerRoute,
  ...checkpointRoutes,
  ...documentRoutes,
  ...workspaceRoutes,
];
