/** Every route, in the order of the OpenAPI document. */
import { Type } from '../../../core/schema.js';
import { openApiDocument } from '../openapi.js';
import { ok, type Route } from '../route.js';
import { agentRoutes } from './agent-routes.js';
import { agentSearchRoutes } from './agent-search-routes.js';
import { answerRoute } from './answer-route.js';
import { approvalRoutes } from './approval-routes.js';
import { changeRoutes } from './change-routes.js';
import { checkpointRoutes } from './checkpoint-routes.js';
import { documentRoutes } from './document-routes.js';
import { healthRoutes } from './health-routes.js';
import { sessionRoutes } from './session-routes.js';
import { stateRoutes } from './state-routes.js';
import { workspaceRoutes } from './workspace-routes.js';

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
  ...healthRoutes,
  openApi,
  ...sessionRoutes,
  ...stateRoutes,
  ...changeRoutes,
  ...agentRoutes,
  ...agentSearchRoutes,
  answerRoute,
  ...approvalRoutes,
  ...checkpointRoutes,
  ...documentRoutes,
  ...workspaceRoutes,
];
