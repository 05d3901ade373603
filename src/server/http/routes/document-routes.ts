/** Durable documents: reading writes nothing, and a change is a merge patch. */
import { isRekindleError, RekindleError } from '../../../core/errors.js';
import type { JsonObject, JsonValue } from '../../../core/json.js';
import type { DocumentPool } from '../../../state/durable/document-pool.js';
import type { StateEvent } from '../../../state/durable/state-event.js';
import type { StateInspection, StateSnapshot } from '../../../state/durable/state-snapshot.js';
import { conditionOf, hasCurrent, tagOf } from '../conditions.js';
import * as documents from '../document-schemas.js';
import { text, wholeNumber } from '../query.js';
import { MERGE_PATCH_TYPE, ok, type Reply, type Route } from '../route.js';
import { inHeader, inQuery, wholeInQuery } from '../route-parameters.js';
import { patchBody, problemDetails } from '../schemas.js';

const EVENTS_MAX = 500;
const EVENTS = 50;
const notFound = {
  description: 'There is no such document or version, or no definition of it.',
  schema: problemDetails,
};
const list: Route = {
  method: 'GET',
  path: '/documents',
  reach: 'store',
  summary: 'Durable documents, and whether journal and file agree',
  responses: { 200: { description: 'Sorted by name.', schema: documents.documentList } },
  async handle(_, { pool }) {
    const rows: JsonObject[] = [];
    for (const name of await pool.names()) rows.push(await summaryOf(pool, name));
    return ok({ documents: rows });
  },
};

const read: Route = {
  method: 'GET',
  path: '/documents/{name}',
  reach: 'store',
  summary: 'One document, the newest version or an older one',
  parameters: [
    wholeInQuery('at', 'A version. Default: the newest.', 1),
    inHeader('If-None-Match', '304 when this is still the version.'),
  ],
  responses: {
    200: { description: 'The document; its version is the ETag.', schema: documents.stateDocument },
    304: { description: 'It is still at that version.' },
    404: notFound,
  },
  async handle(request, { pool }) {
    const name = request.params['name']!;
    const manager = await pool.get(name);
    const at = wholeNumber(request, 'at', Number.MAX_SAFE_INTEGER, 1);
    const inspection = at === null ? await manager.inspect() : null;
    const found = at === null ? inspection!.current : await manager.at(at);
    if (!found) throw noVersion(name, at);
    const headers = { ETag: tagOf(found.version) };
    const fields = inspection ? fileFields(inspection) : {};
    // The file may change without a new version, so only the version decides.
    if (hasCurrent(request, headers.ETag)) return { status: 304, headers };
    return ok({ ...documentToWire(name, found), ...fields }, headers);
  },
};

const patch: Route = {
  method: 'PATCH',
  path: '/documents/{name}',
  reach: 'store',
  summary: 'A merge patch (RFC 7396) of a document, checked against its schema',
  parameters: [
    inHeader('If-Match', 'Only at this version: "3". Without it the patch is made on the newest version.'),
    inQuery('why', 'The reason, for the history.'),
  ],
  body: { mediaType: MERGE_PATCH_TYPE, schema: patchBody },
  responses: {
    200: { description: 'The document as it is now.', schema: documents.stateDocument },
    404: notFound,
    409: {
      description: 'It is at another version, or a person is editing it (HUMAN_EDIT, with Retry-After).',
      schema: problemDetails,
    },
    422: {
      description: 'The changed document does not fit its schema, or is too large. Nothing was written.',
      schema: problemDetails,
    },
  },
  async handle(request, { pool }) {
    const name = request.params['name']!;
    const ifVersion = versionOf(conditionOf(request));
    const why = text(request, 'why');
    const manager = await pool.get(name);
    const changed = await manager.patch(request.body, {
      by: request.principal.name,
      ...(ifVersion === null ? {} : { ifVersion }),
      ...(why === undefined ? {} : { why }),
    });
    return documentReply(name, changed);
  },
};

const history: Route = {
  method: 'GET',
  path: '/documents/{name}/history',
  reach: 'store',
  summary: 'The changes of a document with author, time and reason, newest first',
  parameters: [
    wholeInQuery('limit', `At most ${EVENTS_MAX}. Default ${EVENTS}.`, 1),
    wholeInQuery('before', 'Only versions below this one.', 1),
  ],
  responses: {
    200: { description: 'A page of them.', schema: documents.documentHistory },
    404: notFound,
  },
  async handle(request, { pool }) {
    const name = request.params['name']!;
    const manager = await pool.get(name);
    const limit = wholeNumber(request, 'limit', EVENTS_MAX, 1) ?? EVENTS;
    const before = wholeNumber(request, 'before', Number.MAX_SAFE_INTEGER, 1) ?? Number.POSITIVE_INFINITY;
    const events: JsonObject[] = [];
    for await (const event of manager.history()) {
      if (event.version >= before) continue;
      if (events.length === limit) return ok({ name, events, before: events.at(-1)!['version']! });
      events.push(eventToWire(event));
    }
    return ok({ name, events, before: null });
  },
};

const schema: Route = {
  method: 'GET',
  path: '/documents/{name}/schema',
  reach: 'store',
  summary: 'The JSON Schema that every change of a document must fit',
  responses: { 200: { description: 'The schema.', schema: documents.documentSchema }, 404: notFound },
  async handle({ params }, { pool }) {
    return ok((await pool.get(params['name']!)).schema as JsonObject);
  },
};

export const documentRoutes: readonly Route[] = [list, read, patch, history, schema];

async function summaryOf(pool: DocumentPool, name: string): Promise<JsonObject> {
  const nothing = { name, version: null, schema_version: null, updated_at: null, updated_by: null };
  try {
    const inspection = await (await pool.get(name)).inspect();
    const { current } = inspection;
    if (!current) return { ...nothing, ...fileFields(inspection) };
    return {
      name,
      version: current.version,
      schema_version: current.value['schema_version'] ?? null,
      updated_at: current.at,
      updated_by: current.by,
      file: fileFields(inspection)['file']!,
    };
  } catch (thrown) {
    if (!isRekindleError(thrown)) throw thrown;
    return { ...nothing, file: thrown.code === 'STATE_NOT_FOUND' ? 'no_definition' : thrown.code };
  }
}

function documentToWire(name: string, snapshot: StateSnapshot<JsonObject>): JsonObject {
  const { version, value, event, at, by, why } = snapshot;
  return { name, version, value, event, updated_at: at, updated_by: by, why };
}

function fileFields({ pending, refused }: StateInspection<JsonObject>): JsonObject {
  if (!refused) return { file: pending ?? 'in_step' };
  const problems = refused.problems.map(({ line, column, path, message }) => ({
    line,
    column,
    path,
    message,
  }));
  return { file: 'edit_refused', problems };
}

function eventToWire({ version, event, at, by, why, patch: changes }: StateEvent): JsonObject {
  return {
    ...{ version, event, updated_at: at, updated_by: by, why },
    changes: changes as unknown as JsonValue,
  };
}

function documentReply(name: string, snapshot: StateSnapshot<JsonObject>): Reply {
  return ok(documentToWire(name, snapshot), { ETag: tagOf(snapshot.version) });
}

/** A document has one version, and it always exists. @throws INVALID_ARGUMENT */
function versionOf(condition: ReturnType<typeof conditionOf>): number | null {
  if (condition === null || condition === '*') return null;
  if (typeof condition === 'number' && condition > 0) return condition;
  const rule = 'a document takes If-Match with one version, such as "3", or *';
  throw new RekindleError('INVALID_ARGUMENT', `The condition is refused: ${rule}.`, { details: { rule } });
}

function noVersion(name: string, version: number | null): RekindleError {
  const what = version === null ? 'no version yet' : `no version ${version}`;
  return new RekindleError('STATE_NOT_FOUND', `${name} has ${what}.`, { details: { name, version } });
}
