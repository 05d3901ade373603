/** The state that the sessions of one root share. */
import { RekindleError } from '../../../core/errors.js';
import type { JsonObject } from '../../../core/json.js';
import type { StateOperation, VersionCondition } from '../../../state/shared/key-decision.js';
import { SESSION_HEADER } from '../../../state/shared/sessions/session-environment.js';
import type { SharedState, StateKey } from '../../../state/shared/shared-state.js';
import { conditionOf, hasCurrent, tagOf } from '../conditions.js';
import { problem } from '../problem.js';
import { wholeNumber } from '../query.js';
import { outOfScope } from '../reach.js';
import {
  JSON_TYPE,
  MERGE_PATCH_TYPE,
  ok,
  type Reply,
  type Route,
  type RouteRequest,
  type Services,
} from '../route.js';
import { inHeader, inQuery, wholeInQuery } from '../route-parameters.js';
import { patchBody, problemDetails } from '../schemas.js';
import * as schemas from '../state-schemas.js';
import { batchToWire, changeToWire, keyToWire } from '../wire.js';

const EVENTS_MAX = 1_000;
/** A page also ends at this size of its values, in bytes. */
const EVENTS_BYTES = 4 * 1024 * 1024;
const ifMatch = inHeader(
  'If-Match',
  'Only at this version: "3"; at one of several: "3", "4"; *: only when there is a value. Without it the last writer wins.',
);
const ifNoneMatch = inHeader(
  'If-None-Match',
  'For a change: * creates and does not replace. For reading: 304 when this is still the version.',
);
const actor = inHeader(
  SESSION_HEADER,
  'The session that acts, of the same root. Default: the one in the path.',
);
const conflict = { description: 'The version has changed.', schema: problemDetails };
const noKey = {
  description: 'There is no such session, or the key has no value.',
  schema: problemDetails,
};
const noSession = { description: 'There is no such session.', schema: problemDetails };
const refusedValue = { description: 'Beyond a limit, or of the wrong type.', schema: problemDetails };
/** Responses of routes that give a key a new value. */
const changedKey = {
  200: { description: 'The key as it is now.', schema: schemas.stateKey },
  404: noSession,
  409: conflict,
  422: refusedValue,
};
const KEY_PATH = '/sessions/{id}/state/keys/{key}';

/**
 * The state of a session's root, and the acting session. @throws SESSION_NOT_FOUND, INVALID_ARGUMENT for an
 * actor of another root
 */
export async function open(
  request: RouteRequest,
  { shared }: Services,
): Promise<{ readonly state: SharedState; readonly by: string }> {
  const id = request.params['id']!;
  const state = await shared.stateOf(id);
  const { session } = request.principal;
  const by = request.header(SESSION_HEADER) ?? session;
  if (session !== null && by !== session)
    throw outOfScope(`The token acts as the session ${JSON.stringify(session)}.`);
  if (by === null) return { state, by: id };
  if ((await shared.tree.rootOf(by)) === state.root) return { state, by };
  throw new RekindleError('INVALID_ARGUMENT', `The session in ${SESSION_HEADER} belongs to another root.`, {
    details: { field: SESSION_HEADER },
  });
}

const readAll: Route = {
  method: 'GET',
  path: '/sessions/{id}/state',
  reach: 'session',
  summary: 'All keys that have a value, now or at an earlier version',
  parameters: [
    wholeInQuery('at', 'A global version. Default: now.'),
    wholeInQuery('at_sequence', 'The same as `at`.'),
    ifNoneMatch,
  ],
  responses: {
    200: { description: 'The state; its version is the ETag.', schema: schemas.stateView },
    304: { description: 'It is still at that version.' },
    404: noSession,
    410: { description: 'The version was deleted.', schema: problemDetails },
  },
  async handle(request, services) {
    const { state } = await open(request, services);
    const at = wholeNumber(request, 'at') ?? wholeNumber(request, 'at_sequence');
    if (request.query.has('at') && request.query.has('at_sequence'))
      throw new RekindleError('INVALID_ARGUMENT', 'at and at_sequence are the same: give one of them.', {
        details: { field: 'at_sequence' },
      });
    const { globalVersion, history, keys } = at === null ? await state.getAll() : await state.at(at);
    const headers = { ETag: tagOf(globalVersion) };
    if (hasCurrent(request, headers.ETag)) return { status: 304, headers };
    const body = {
      root_session_id: state.root,
      global_version: globalVersion,
      ...(history === undefined ? {} : { history }),
      keys: Object.fromEntries(keys.map((entry) => [entry.key, keyToWire(entry)])),
    };
    return ok(body, headers);
  },
};

const patchAll: Route = {
  method: 'PATCH',
  path: '/sessions/{id}/state',
  reach: 'session',
  summary: 'A merge patch (RFC 7396) over the keys, all or nothing',
  parameters: [{ ...ifMatch, description: 'Only if nothing has changed since this version.' }, actor],
  body: { mediaType: MERGE_PATCH_TYPE, schema: patchBody },
  responses: {
    200: { description: 'The outcome.', schema: schemas.batchReply },
    404: noSession,
    409: conflict,
    422: refusedValue,
  },
  async handle(request, services) {
    const { state, by } = await open(request, services);
    const condition = conditionOf(request);
    if (condition === '*') throw unconditional('If-Match: * has no meaning for the state as a whole');
    const wanted = condition === null ? {} : { ifGlobalVersion: condition };
    const result = await state.patch(request.body as JsonObject, { by, ...wanted });
    return ok(batchToWire(result), { ETag: tagOf(result.globalVersion) });
  },
};

const readKey: Route = {
  method: 'GET',
  path: KEY_PATH,
  reach: 'session',
  summary: 'One key',
  parameters: [ifNoneMatch],
  responses: {
    200: { description: 'The key; its version is the ETag.', schema: schemas.stateKey },
    304: { description: 'It is still at that version.' },
    404: noKey,
  },
  async handle(request, services) {
    const { state } = await open(request, services);
    const entry = await state.get(request.params['key']!);
    if (!entry) return absent(request);
    const headers = { ETag: tagOf(entry.version) };
    return hasCurrent(request, headers.ETag) ? { status: 304, headers } : ok(keyToWire(entry), headers);
  },
};

const putKey: Route = {
  method: 'PUT',
  path: KEY_PATH,
  reach: 'session',
  summary: 'Set a key',
  parameters: [ifMatch, ifNoneMatch, actor],
  body: { mediaType: JSON_TYPE, schema: schemas.putKeyBody },
  responses: changedKey,
  async handle(request, services) {
    const { state, by } = await open(request, services);
    const { value } = request.body as JsonObject;
    return keyReply(await state.set(request.params['key']!, value, { by, ...ifVersionOf(request) }));
  },
};

const deleteKey: Route = {
  method: 'DELETE',
  path: KEY_PATH,
  reach: 'session',
  summary: 'Delete a key; its history stays',
  parameters: [ifMatch, actor],
  responses: { 204: { description: 'The value was deleted.' }, 404: noKey, 409: conflict },
  async handle(request, services) {
    const { state, by } = await open(request, services);
    const deleted = await state.delete(request.params['key']!, { by, ...ifVersionOf(request) });
    return deleted ? { status: 204 } : absent(request);
  },
};

const operate: Route = {
  method: 'POST',
  path: `${KEY_PATH}/ops`,
  reach: 'session',
  summary: 'Increment, append or merge atomically, so that no concurrent change is lost',
  parameters: [ifMatch, actor],
  body: { mediaType: JSON_TYPE, schema: schemas.operationBody },
  responses: changedKey,
  async handle(request, services) {
    const { state, by } = await open(request, services);
    const key = request.params['key']!;
    const body = request.body as JsonObject;
    const options = { by, ...ifVersionOf(request) };
    if (body['operation'] === 'append')
      return keyReply(await state.append(key, body['items'] as unknown[], options));
    if (body['operation'] === 'merge')
      return keyReply(await state.merge(key, body['patch'] as object, options));
    return keyReply(await state.increment(key, Number(body['delta'] ?? 1), options));
  },
};

const history: Route = {
  method: 'GET',
  path: `${KEY_PATH}/history`,
  reach: 'session',
  summary: 'The changes of a key, newest first',
  parameters: [wholeInQuery('limit', `At most ${EVENTS_MAX}. Default 50.`)],
  responses: {
    200: { description: 'Empty for a key that never existed.', schema: schemas.keyHistory },
    404: noSession,
  },
  async handle(request, services) {
    const { state } = await open(request, services);
    const key = request.params['key']!;
    const found = await state.history(key, wholeNumber(request, 'limit', EVENTS_MAX) ?? 50);
    const changes = found.changes.map((change) => changeToWire(state.root, change));
    return ok({
      root_session_id: state.root,
      key,
      complete: found.complete,
      has_more: found.hasMore,
      changes,
    });
  },
};

const batch: Route = {
  method: 'POST',
  path: '/sessions/{id}/state/batch',
  reach: 'session',
  summary: 'Several operations, all or nothing',
  parameters: [actor],
  body: { mediaType: JSON_TYPE, schema: schemas.batchBody },
  responses: {
    200: { description: 'All were applied.', schema: schemas.batchReply },
    404: noSession,
    409: { description: 'None was applied, because one has a conflict.', schema: schemas.batchReply },
    422: refusedValue,
  },
  async handle(request, services) {
    const { state, by } = await open(request, services);
    if (conditionOf(request) !== null) throw unconditional('a batch takes if_match of each operation');
    const operations = (request.body as JsonObject)['operations'] as JsonObject[];
    const result = await state.batch(operations.map(operationOf), { by });
    const body = batchToWire(result);
    if (result.applied) return ok(body, { ETag: tagOf(result.globalVersion) });
    const detail = 'No operation was applied, because one has a conflict.';
    return problem(409, { code: 'DOCUMENT_CONFLICT', error: 'version_conflict', detail, ...body });
  },
};

const events: Route = {
  method: 'GET',
  path: '/sessions/{id}/state/events',
  reach: 'session',
  summary: 'The changes after a global version, oldest first',
  parameters: [
    wholeInQuery('since', 'A global version. Default 0: from the beginning.'),
    inQuery('history', 'The history of that version, to be sure that it is of this store.'),
    wholeInQuery('limit', `At most ${EVENTS_MAX}. Default 100.`),
  ],
  responses: {
    200: { description: 'Go on with the global version of the last one.', schema: schemas.stateEvents },
    404: noSession,
    410: {
      description: 'The changes were deleted.',
      schema: problemDetails,
    },
  },
  async handle(request, services) {
    const { state } = await open(request, services);
    const since = wholeNumber(request, 'since') ?? 0;
    const limit = wholeNumber(request, 'limit', EVENTS_MAX) ?? 100;
    const events: JsonObject[] = [];
    let bytes = 0;
    let hasMore = false;
    const history = request.query.get('history') ?? undefined;
    const goesOn = await state.continues(since, history);
    for await (const change of goesOn ? state.changesAfter(since) : []) {
      hasMore = events.length >= limit || bytes >= EVENTS_BYTES;
      if (hasMore) break;
      events.push(changeToWire(state.root, change));
      bytes += change.bytes;
    }
    const body = {
      root_session_id: state.root,
      global_version: await state.globalVersion(),
      oldest_version: await state.oldestVersion(),
      ...(goesOn ? {} : { resync: true }),
      has_more: hasMore,
      events,
    };
    return ok(body);
  },
};

export const stateRoutes: readonly Route[] = [
  readAll,
  patchAll,
  readKey,
  putKey,
  deleteKey,
  operate,
  history,
  batch,
  events,
];

function unconditional(rule: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `The condition is refused: ${rule}.`, { details: { rule } });
}

function keyReply(entry: StateKey): Reply {
  return ok(keyToWire(entry), { ETag: tagOf(entry.version) });
}

function absent({ params }: RouteRequest): Reply {
  const detail = `The key ${JSON.stringify(params['key'])} has no value.`;
  return problem(404, { code: 'KEY_NOT_FOUND', detail, key: params['key']! });
}

function ifVersionOf(request: RouteRequest): { readonly ifVersion?: VersionCondition } {
  const condition = conditionOf(request);
  return condition === null ? {} : { ifVersion: condition };
}

/** The state itself refuses missing and unknown fields, with the index of the operation. */
function operationOf({ if_match: ifVersion, ...operation }: JsonObject): StateOperation {
  return { ...operation, ...(ifVersion === undefined ? {} : { ifVersion }) } as unknown as StateOperation;
}
