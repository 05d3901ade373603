/** Routes over hono for admitted requests: finds the route, checks the body, sends the answer. */
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import type { JsonValue } from '../../core/json.js';
import { compileSchema, type SchemaCheck } from '../../core/schema-check.js';
import type { AuditedCall, AuditTrail } from '../access/audit-trail.js';
import type { Principal } from '../access/principal.js';
import { isDashboardPath } from '../dashboard/dashboard-assets.js';
import { assertExactNumbers } from './exact-numbers.js';
import { problemOf, refusalReply, refused } from './problem.js';
import { assertKnownQuery } from './query.js';
import { assertReach } from './reach.js';
import { textOfBody } from './request-body.js';
import type { Reply, Route, RouteReach, RouteRequest, Services } from './route.js';

export interface HttpAppOptions {
  /** The principal that was admitted with a request. */
  readonly principalOf: (context: Context<HttpEnv>) => Principal;
  readonly routes: readonly Route[];
  readonly services: Services;
  readonly audit: AuditTrail;
  readonly onUnexpected: (thrown: unknown) => void;
}

/** What the adapter to Node's server adds to the request. */
export type HttpEnv = { Bindings: HttpBindings };

export function createHttpApp(options: HttpAppOptions): Hono<HttpEnv> {
  const { routes, onUnexpected } = options;
  const requests = options.services.metrics?.createHistogram('http.server.request.duration', {
    description: 'Duration of HTTP requests, by route',
    unit: 's',
  });
  const app = new Hono<HttpEnv>();
  for (const route of routes) {
    const check = route.body ? compileSchema(route.body.schema, { firstOnly: true }) : null;
    app.on(route.method, route.path.replace(/\{(\w+)\}/g, ':$1'), async (context) => {
      const start = performance.now();
      const reply = await answer(context, route, check, options);
      requests?.record((performance.now() - start) / 1_000, {
        'http.request.method': route.method,
        'http.route': route.path,
        'http.response.status_code': reply.status,
      });
      return respond(reply);
    });
  }
  app.notFound((context) => respond(notFound(context, routes)));
  app.onError((thrown) => respond(problemOf(thrown, onUnexpected)));
  return app;
}

async function answer(
  context: Context<HttpEnv>,
  route: Route,
  check: SchemaCheck | null,
  { principalOf, services, audit, onUnexpected }: HttpAppOptions,
): Promise<Reply> {
  try {
    const url = new URL(context.req.url);
    assertKnownQuery(route, url.searchParams);
    const request = {
      principal: principalOf(context),
      params: paramsOf(route.path, url),
      query: url.searchParams,
      header: (name: string) => context.req.header(name) ?? null,
      signal: () => AbortSignal.any([context.req.raw.signal, services.closing]),
      body: null,
    };
    const call = route.needsToken === false ? null : callOf(route, request);
    const assertReached = () => assertReach(route, request, services);
    await (call ? audit.checked(call, assertReached) : assertReached());
    const body = check ? await bodyOf(context, route.body?.mediaType ?? '', check) : null;
    return await route.handle({ ...request, body }, services).catch(async (thrown: unknown) => {
      // Some routes check the access to each part themselves.
      if (call && isRekindleError(thrown, 'REQUEST_REFUSED')) await audit.record(call, 'refused');
      throw thrown;
    });
  } catch (thrown) {
    return problemOf(thrown, onUnexpected);
  }
}

const NAMED: readonly RouteReach[] = ['agent', 'session', 'checkpoint'];

/** The route without values: the query may contain texts. */
function callOf({ method, path, reach }: Route, { principal, params }: RouteRequest): AuditedCall {
  const target = NAMED.includes(reach) ? `${reach} ${params['id'] ?? ''}` : 'store';
  const action = method === 'GET' ? 'read' : 'write';
  return { actor: principal.name, action, target, what: `${method} ${path}` };
}

/** Parses the raw address, because an encoded slash must not end a segment. */
function paramsOf(path: string, { pathname }: URL): Record<string, string> {
  const given = pathname.split('/');
  const params: Record<string, string> = {};
  for (const [index, segment] of path.split('/').entries()) {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name !== undefined) params[name] = decoded(given[index] ?? '');
  }
  return params;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    throw new RekindleError('INVALID_ARGUMENT', 'The address is not percent-encoded UTF-8.', {
      details: { field: 'path' },
      cause,
    });
  }
}

async function bodyOf(context: Context, mediaType: string, check: SchemaCheck): Promise<JsonValue> {
  const given = (context.req.header('Content-Type') ?? '').split(';')[0]!.trim().toLowerCase();
  if (given !== mediaType) {
    const detail = `The body must be ${mediaType}.`;
    throw refused({ status: 415, reason: 'media-type', detail, headers: { Accept: mediaType } });
  }
  const body = parseBody(await textOfBody(context.req.raw));
  if (check(body)) return body;
  const violations = check.violations();
  const lines = violations
    .slice(0, 3)
    .map(({ path, message }) => `${path === '' ? 'the body' : path} ${message}`);
  throw new RekindleError('INVALID_ARGUMENT', `The body is refused: ${lines.join('; ')}.`, {
    details: {
      field: 'body',
      violations: violations.map(({ path, rule, message }) => ({ path, rule, message })),
    },
  });
}

function parseBody(text: string): JsonValue {
  assertExactNumbers(text);
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw new RekindleError('INVALID_ARGUMENT', 'The body is not JSON.', {
      details: { field: 'body' },
      cause,
    });
  }
}

function notFound(context: Context, routes: readonly Route[]): Reply {
  const { pathname } = new URL(context.req.url);
  const methods: string[] = routes
    .filter(({ path }) => patternOf(path).test(pathname))
    .map(({ method }) => method);
  if (isDashboardPath(pathname)) methods.push('GET');
  if (methods.length === 0)
    return refusalReply({ status: 404, reason: 'route', detail: 'There is nothing at this address.' });
  const allow = [...new Set(methods)].join(', ');
  const detail = `This address takes ${allow}.`;
  return refusalReply({ status: 405, reason: 'method', detail, headers: { Allow: allow } });
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`);
}

function respond({ status, body, text, headers = {} }: Reply): Response {
  if (text !== undefined) return new Response(text, { status, headers });
  if (body === undefined) return new Response(null, { status, headers });
  const type = headers['Content-Type'] ?? 'application/json';
  return new Response(JSON.stringify(body), { status, headers: { ...headers, 'Content-Type': type } });
}
