/** Routes for operators: whether the server responds, whether it can work, and its metrics. */
import { isRekindleError } from '../../../core/errors.js';
import { Type } from '../../../core/schema.js';
import { refused } from '../problem.js';
import { ok, type Reply, type Route, type Services } from '../route.js';
import { problemDetails } from '../schemas.js';

/** How long the store may take to answer, in milliseconds. */
const READY_MS = 2_000;
/** Any small document will do, also one that does not exist. */
const SOME_DOCUMENT = ['server', 'token'];
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

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

const ready: Route = {
  method: 'GET',
  path: '/ready',
  reach: 'everyone',
  summary: 'Whether the server takes requests and its store answers. Needs no token',
  needsToken: false,
  responses: {
    200: { description: 'It does.', schema: Type.Object({ status: Type.Literal('ready') }) },
    503: { description: 'The server is closing, or the store does not answer.', schema: problemDetails },
  },
  async handle(_request, services) {
    const problem = await problemWith(services);
    if (problem !== null) throw refused({ status: 503, reason: 'not-ready', detail: problem });
    return ok({ status: 'ready' });
  },
};

/** Requests without a token must not load the store: those of one moment share one look. */
const looks = new WeakMap<Services, Promise<string | null>>();

function problemWith(services: Services): Promise<string | null> {
  if (services.closing.aborted) return Promise.resolve('The server is closing.');
  let look = looks.get(services);
  if (!look) looks.set(services, (look = lookAt(services).finally(() => looks.delete(services))));
  return look;
}

/** Null if the store answers. Its errors name places, so the answer has only their codes. */
async function lookAt({ backend }: Services): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`The store did not answer within ${READY_MS} ms.`), READY_MS);
  });
  const answered = backend.documents.modifiedMs(SOME_DOCUMENT).then(
    () => null,
    (thrown: unknown) =>
      `The store does not answer: ${isRekindleError(thrown) ? thrown.code : 'UNEXPECTED'}.`,
  );
  return Promise.race([answered, late]).finally(() => clearTimeout(timer));
}

const metrics: Route = {
  method: 'GET',
  path: '/metrics',
  reach: 'store',
  summary: 'Counters and histograms of this process, as text for Prometheus',
  responses: {
    200: { description: 'The text.', mediaType: METRICS_TYPE },
    404: { description: 'The server was started without metrics.', schema: problemDetails },
  },
  async handle(_request, services): Promise<Reply> {
    const text = services.metrics?.text();
    if (text === undefined) {
      const detail =
        'This server keeps no metrics. Start it with `rekindle serve --metrics`, or `metrics: true`.';
      throw refused({ status: 404, reason: 'metrics', detail });
    }
    return { status: 200, text, headers: { 'Content-Type': METRICS_TYPE } };
  },
};

export const healthRoutes: readonly Route[] = [health, ready, metrics];
