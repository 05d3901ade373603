/** Makes the OpenAPI document from the routes, so that both always agree. */
import type { JsonObject } from '../../core/json.js';
import type { TSchema } from '../../core/schema.js';
import type { Route, RouteParameter, RouteResponse } from './route.js';
import { problemDetails } from './schemas.js';

const PROBLEM_TYPE = 'application/problem+json';

/** OpenAPI 3.1: its schemas are JSON Schema 2020-12, like those of this library. */
export function openApiDocument(routes: readonly Route[]): JsonObject {
  const paths: { [path: string]: JsonObject } = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route);
  return {
    openapi: '3.1.0',
    info: { title: 'Rekindle', version: '1', description: 'Durable state of agents. See docs/server.md.' },
    security: [{ token: [] }],
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
}

function operationOf(route: Route): JsonObject {
  const { method, path, summary, body, responses, needsToken } = route;
  return {
    summary,
    operationId: `${method.toLowerCase()}${path.replace(/[^a-z]+([a-z]?)/gi, (_, next: string) => next.toUpperCase())}`,
    ...(needsToken === false ? { security: [] } : {}),
    parameters: [...pathParameters(path), ...(route.parameters ?? []).map(parameterOf)],
    ...(body
      ? { requestBody: { required: true, content: { [body.mediaType]: { schema: plain(body.schema) } } } }
      : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [status, responseOf(status, response)]),
      ),
      default: responseOf('default', { description: 'A problem.', schema: problemDetails }),
    },
  };
}

function pathParameters(path: string): JsonObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name: name!,
    in: 'path',
    required: true,
    description: 'Percent-encoded.',
    schema: { type: 'string' },
  }));
}

function parameterOf({ name, in: place, description, schema }: RouteParameter): JsonObject {
  return { name, in: place, description, required: false, schema: plain(schema) };
}

function responseOf(status: string, { description, schema, mediaType: text }: RouteResponse): JsonObject {
  if (text !== undefined) return { description, content: { [text]: { schema: { type: 'string' } } } };
  const mediaType = status.startsWith('2') ? 'application/json' : PROBLEM_TYPE;
  return { description, ...(schema ? { content: { [mediaType]: { schema: plain(schema) } } } : {}) };
}

/** Without typebox's internal properties. */
function plain(schema: TSchema): JsonObject {
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}
