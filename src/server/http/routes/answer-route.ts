/** The route that reads a streamed answer, also while it is written. It takes no lease and writes nothing. */
import { Type } from '../../../core/schema.js';
import { readAnswer } from '../../../memory/store/read-answer.js';
import { wholeNumber } from '../query.js';
import { ok, type Route } from '../route.js';
import { inQuery } from '../route-parameters.js';
import * as schemas from '../schemas.js';

/** Less than proxies allow for an answer. */
const WAIT_MS_MAX = 25_000;

export const answerRoute: Route = {
  method: 'GET',
  path: '/agents/{id}/answer',
  reach: 'agent',
  summary: 'A streamed answer from any place on, also while it is being written',
  parameters: [
    inQuery(
      'after',
      '`next` of the reading before. Default: the last answer from its beginning.',
      Type.Integer(),
    ),
    inQuery(
      'wait_ms',
      `How long to wait if there is nothing new, at most ${WAIT_MS_MAX}. Default 0.`,
      Type.Integer(),
    ),
  ],
  responses: {
    200: { description: 'The parts, and whether more will come.', schema: schemas.agentAnswer },
    404: { description: 'There is no such agent.', schema: schemas.problemDetails },
  },
  async handle(request, { backend }) {
    const agentId = request.params['id']!;
    const after = wholeNumber(request, 'after') ?? 0;
    const waitMs = wholeNumber(request, 'wait_ms', WAIT_MS_MAX) ?? 0;
    const reading = await readAnswer(backend, agentId, { after, waitMs, signal: request.signal() });
    return ok({
      agent_id: agentId,
      parts: reading.parts.map(({ messageId, turnId, ...part }) => ({
        ...part,
        message_id: messageId,
        turn_id: turnId,
      })),
      next: reading.next,
      state: reading.state,
      message_id: reading.messageId,
    });
  },
};
