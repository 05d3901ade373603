/** Routes to search an agent's past and read around results. They take no lease and write nothing. */
import { RekindleError } from '../../../core/errors.js';
import { Type } from '../../../core/schema.js';
import { AROUND_MAX, type PastPlace, readPast, TURNS_MAX } from '../../../memory/recall/read-past.js';
import { searchAgent } from '../../../memory/recall/search-agent.js';
import {
  assertWords,
  momentOf,
  OFFSET_MAX,
  QUERY_CHARS_MAX,
  RESULTS_MAX,
  SPEAKER_WORDS,
  speakersOf,
} from '../../../memory/recall/search-filters.js';
import { passageJson } from '../../../memory/tools/search-tools.js';
import { text, wholeNumber } from '../query.js';
import { ok, type Route, type RouteRequest } from '../route.js';
import { inQuery } from '../route-parameters.js';
import * as schemas from '../schemas.js';

const notFound = { description: 'There is no such agent.', schema: schemas.problemDetails };
const number = Type.Integer();

const search: Route = {
  method: 'GET',
  path: '/agents/{id}/search',
  reach: 'agent',
  summary: 'What was said, done and answered, found by words: best match first',
  parameters: [
    inQuery('q', `What to look for, ${QUERY_CHARS_MAX} characters at most. Must be given.`),
    inQuery('limit', `At most ${RESULTS_MAX}. Default 10.`, number),
    inQuery('offset', `\`next_offset\` of the page before. At most ${OFFSET_MAX}.`, number),
    inQuery('speaker', 'Only what this one said.', Type.Enum(Object.keys(SPEAKER_WORDS))),
    inQuery('tool', 'Only calls and results of this tool.'),
    inQuery('since', 'Only from this time on (ISO 8601).'),
    inQuery('until', 'Only before this time (ISO 8601).'),
  ],
  responses: {
    200: { description: 'With the place of the next page.', schema: schemas.agentSearch },
    404: notFound,
  },
  async handle(request, { backend }) {
    const agentId = request.params['id']!;
    const page = await searchAgent(backend, agentId, queryOf(request));
    return ok({
      agent_id: agentId,
      results: page.hits.map(({ passage }) => passageJson(passage)),
      next_offset: page.nextOffset,
      searched_passages: page.searched,
    });
  },
};

const passages: Route = {
  method: 'GET',
  path: '/agents/{id}/passages',
  reach: 'agent',
  summary: 'What was said around a record of a search, or in whole turns, in order',
  parameters: [
    inQuery('record', 'Of a result of a search.', number),
    inQuery('before', `Records before it, at most ${AROUND_MAX}. Default 4.`, number),
    inQuery('after', `Records after it, at most ${AROUND_MAX}. Default 4.`, number),
    inQuery('from_turn', 'First turn, instead of `record`.', number),
    inQuery('to_turn', `Last turn: at most ${TURNS_MAX} turns. Default: the first.`, number),
  ],
  responses: {
    200: { description: 'With the record where the rest begins.', schema: schemas.agentPassages },
    404: notFound,
  },
  async handle(request, { backend }) {
    const agentId = request.params['id']!;
    const read = await readPast(backend, agentId, placeOf(request));
    return ok({
      agent_id: agentId,
      passages: read.passages.map(passageJson),
      next_record: read.nextRecord,
    });
  },
};

export const agentSearchRoutes: readonly Route[] = [search, passages];

function queryOf(request: RouteRequest) {
  const words = text(request, 'q') ?? '';
  assertWords('q', words);
  const [limit, offset] = [
    wholeNumber(request, 'limit', RESULTS_MAX, 1),
    wholeNumber(request, 'offset', OFFSET_MAX),
  ];
  const [speaker, tool] = [text(request, 'speaker'), text(request, 'tool')];
  const [since, until] = [text(request, 'since'), text(request, 'until')];
  return {
    text: words,
    nowMs: Date.now(),
    ...(limit === null ? {} : { limit }),
    ...(offset === null ? {} : { offset }),
    ...(speaker === undefined ? {} : { speakers: speakersOf('speaker', speaker) }),
    ...(tool === undefined ? {} : { toolName: tool }),
    ...(since === undefined ? {} : { fromMs: momentOf('since', since) }),
    ...(until === undefined ? {} : { toMs: momentOf('until', until) }),
  };
}

/**
 * Requires either a record or turns, because parameters of the other kind would be ignored. @throws
 * INVALID_ARGUMENT
 */
function placeOf(request: RouteRequest): PastPlace {
  const record = wholeNumber(request, 'record', Number.MAX_SAFE_INTEGER, 1);
  const before = wholeNumber(request, 'before', AROUND_MAX);
  const after = wholeNumber(request, 'after', AROUND_MAX);
  const fromTurn = wholeNumber(request, 'from_turn', Number.MAX_SAFE_INTEGER, 1);
  const toTurn = wholeNumber(request, 'to_turn', Number.MAX_SAFE_INTEGER, 1);
  if (record !== null && fromTurn === null && toTurn === null)
    return { record, ...(before === null ? {} : { before }), ...(after === null ? {} : { after }) };
  if (record !== null || fromTurn === null || before !== null || after !== null)
    throw badPlace('record', 'Give record, with before and after, or from_turn, with to_turn.');
  const last = toTurn ?? fromTurn;
  if (last < fromTurn || last >= fromTurn + TURNS_MAX)
    throw badPlace('to_turn', `to_turn must be from_turn or one of the ${TURNS_MAX - 1} turns after it.`);
  return { fromTurn, toTurn: last };
}

function badPlace(field: string, message: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', message, { details: { field } });
}
