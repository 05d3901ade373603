import { text, wholeNumber } from '../query.js';
import { ok, type Route } from '../route.js';
import { inQuery, wholeInQuery } from '../route-parameters.js';
import { problemDetails } from '../schemas.js';
import * as schemas from '../state-schemas.js';
import { changeToWire } from '../wire.js';
import { open } from './state-routes.js';

const CHANGES_MAX = 1_000;

const changes: Route = {
  method: 'GET',
  path: '/sessions/{id}/state/changes',
  reach: 'session',
  summary: 'The changes of all keys, newest first',
  parameters: [
    inQuery('key', 'Only changes of this key.'),
    inQuery('session', 'Only changes by this author.'),
    wholeInQuery('before', 'Only changes before this global version: the last one of the page before.'),
    wholeInQuery('limit', `At most ${CHANGES_MAX}. Default 50.`),
  ],
  responses: {
    200: { description: 'Empty if no change matches.', schema: schemas.stateChanges },
    404: { description: 'There is no such session.', schema: problemDetails },
  },
  async handle(request, services) {
    const { state } = await open(request, services);
    const key = text(request, 'key');
    const by = text(request, 'session');
    const before = wholeNumber(request, 'before');
    const found = await state.changes({
      limit: wholeNumber(request, 'limit', CHANGES_MAX) ?? 50,
      ...(key === undefined ? {} : { key }),
      ...(by === undefined ? {} : { by }),
      ...(before === null ? {} : { before }),
    });
    const rows = found.changes.map((change) => changeToWire(state.root, change));
    const { complete, hasMore } = found;
    return ok({ root_session_id: state.root, complete, has_more: hasMore, changes: rows });
  },
};

export const changeRoutes: readonly Route[] = [changes];
