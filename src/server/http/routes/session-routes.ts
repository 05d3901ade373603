/** The session tree. */
import type { JsonObject } from '../../../core/json.js';
import { isStatus, type SessionStatus } from '../../../state/shared/sessions/session-record.js';
import type { NewTreeSession } from '../../../state/shared/sessions/session-tree.js';
import { reachesRoot } from '../../access/principal.js';
import { text } from '../query.js';
import { assertReachesSession, outOfScope } from '../reach.js';
import { JSON_TYPE, ok, type Route } from '../route.js';
import { inQuery } from '../route-parameters.js';
import * as schemas from '../schemas.js';
import { sessionToWire } from '../wire.js';

const filter = (name: string) => inQuery(name, `Only sessions with this ${name}.`);
const notFound = { description: 'There is no such session.', schema: schemas.problemDetails };
const inTheWay = {
  description: 'It exists already, or its status does not allow it.',
  schema: schemas.problemDetails,
};

const create: Route = {
  method: 'POST',
  path: '/sessions',
  reach: 'part',
  summary: 'A new session: a root, or a child of another',
  body: { mediaType: JSON_TYPE, schema: schemas.newSessionBody },
  responses: {
    201: { description: 'The session was created.', schema: schemas.session },
    404: { description: 'There is no such parent.', schema: schemas.problemDetails },
    409: inTheWay,
  },
  async handle({ principal, body }, { shared }) {
    const wanted = body as NewTreeSession;
    if (wanted.parent) await assertReachesSession(principal, shared, wanted.parent);
    else if (principal.roots !== 'all')
      throw outOfScope('The token cannot create root sessions. Name a parent.');
    const session = await shared.tree.create(wanted);
    const location = `/sessions/${encodeURIComponent(session.id)}`;
    return { status: 201, body: sessionToWire(session), headers: { Location: location } };
  },
};

const list: Route = {
  method: 'GET',
  path: '/sessions',
  reach: 'part',
  summary: 'Sessions, oldest first',
  parameters: [filter('root'), filter('parent'), filter('status')],
  responses: { 200: { description: 'The matching sessions.', schema: schemas.sessionList } },
  async handle(request, { shared }) {
    const root = text(request, 'root');
    const parent = text(request, 'parent');
    const status = text(request, 'status');
    const sessions = await shared.tree.list({
      ...(root === undefined ? {} : { root }),
      ...(parent === undefined ? {} : { parent }),
      ...(isStatus(status) ? { status } : {}),
    });
    const isKnown = status === undefined || isStatus(status);
    const fitting = isKnown ? sessions.filter((one) => reachesRoot(request.principal, one.root)) : [];
    return ok({ sessions: fitting.map(sessionToWire) });
  },
};

const read: Route = {
  method: 'GET',
  path: '/sessions/{id}',
  reach: 'session',
  summary: 'One session',
  responses: { 200: { description: 'The session.', schema: schemas.session }, 404: notFound },
  async handle({ params }, { shared }) {
    return ok(sessionToWire(await shared.tree.require(params['id']!)));
  },
};

const setStatus: Route = {
  method: 'PUT',
  path: '/sessions/{id}/status',
  reach: 'session',
  summary: 'Set the status of a session',
  body: { mediaType: JSON_TYPE, schema: schemas.statusBody },
  responses: {
    200: { description: 'The session as it is now.', schema: schemas.session },
    404: notFound,
    409: inTheWay,
  },
  async handle({ params, body }, { shared }) {
    const { status, why } = body as JsonObject;
    const reason = typeof why === 'string' ? { why } : {};
    return ok(sessionToWire(await shared.tree.setStatus(params['id']!, status as SessionStatus, reason)));
  },
};

const orphans: Route = {
  method: 'GET',
  path: '/orphans',
  reach: 'part',
  summary: 'Active sessions below one that has ended or is missing',
  responses: { 200: { description: 'With the reason for each.', schema: schemas.orphanList } },
  async handle({ principal }, { shared }) {
    const all = await shared.tree.orphans();
    const found = all.filter(({ session }) => reachesRoot(principal, session.root));
    return ok({
      orphans: found.map(({ session, reason, ancestor }) => ({
        session: sessionToWire(session),
        reason,
        ancestor,
      })),
    });
  },
};

export const sessionRoutes: readonly Route[] = [create, list, read, setStatus, orphans];
