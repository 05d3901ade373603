/** The Durable Streams protocol at `/v1/stream/…`: access, audit and CORS; the other files of this folder have the operations. */
import type { DurableStreams } from '../../../streams/durable-streams.js';
import type { AuditTrail } from '../../access/audit-trail.js';
import { type Principal, reachesStore } from '../../access/principal.js';
import { problem, problemOf } from '../problem.js';
import { outOfScope } from '../reach.js';
import { bytesOfBody } from '../request-body.js';
import { answered, refusedWith, type StreamCall } from './stream-call.js';
import { isReserved, streamPathOf } from './stream-path.js';
import { getStream, headStream } from './stream-reads.js';
import { HEADERS } from './stream-wire.js';
import { deleteStream, postStream, putStream } from './stream-writes.js';
import { callSubscriptions, hasOwnProof, type SubscriptionCalls } from './subscription-calls.js';

export interface StreamsOverHttp {
  fetch(request: Request, principal: Principal): Promise<Response>;
}

export interface StreamsOverHttpOptions {
  readonly streams: DurableStreams;
  readonly subscriptions: SubscriptionCalls;
  readonly audit: AuditTrail;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
  readonly onUnexpected: (thrown: unknown) => void;
}

const OPERATIONS: Readonly<Record<string, (call: StreamCall) => Promise<Response>>> = {
  GET: getStream,
  HEAD: headStream,
  PUT: putStream,
  POST: postStream,
  DELETE: deleteStream,
};
const READS = ['GET', 'HEAD'];
const METHODS = [...Object.keys(OPERATIONS), 'OPTIONS'].join(', ');
const NAMES: readonly string[] = Object.values(HEADERS);
const ASKED = ['Authorization', 'Content-Type', 'If-None-Match', ...NAMES].join(', ');
const SHOWN = ['ETag', 'Location', ...NAMES].join(', ');
const PREFLIGHT_SECONDS = '600';

export function streamsOverHttp(options: StreamsOverHttpOptions): StreamsOverHttp {
  return {
    async fetch(request, principal) {
      const answer =
        request.method === 'OPTIONS'
          ? preflight()
          : await answerOf(request, principal, options).catch((thrown: unknown) =>
              refusedWith(problemOf(thrown, options.onUnexpected)),
            );
      return shared(request, answer);
    },
  };
}

async function answerOf(
  request: Request,
  principal: Principal,
  { streams, subscriptions, audit, closing }: StreamsOverHttpOptions,
): Promise<Response> {
  const operation = OPERATIONS[request.method];
  if (!operation) return notTaken();
  const url = new URL(request.url);
  const path = streamPathOf(url.pathname);
  const { method } = request;
  const action = READS.includes(method) ? 'read' : 'write';
  const call = {
    actor: principal.name,
    action,
    target: `stream ${path}`,
    what: `${method} /v1/stream`,
  } as const;
  const proves = hasOwnProof(url.pathname);
  if (!proves) await audit.checked(call, async () => assertReaches(principal, action));
  const signal = AbortSignal.any([request.signal, closing]);
  const header = (name: string) => request.headers.get(name);
  const streamCall = { streams, path, url, header, signal, body: () => bytesOfBody(request) };
  return isReserved(path) ? callSubscriptions(method, streamCall, subscriptions) : operation(streamCall);
}

/** Streams belong to no agent and no session. @throws REQUEST_REFUSED */
function assertReaches(principal: Principal, action: 'read' | 'write'): void {
  if (!reachesStore(principal))
    throw outOfScope('Streams need a token with access to everything (rekindle token create --everything).');
  if (action === 'write' && !principal.mayWrite) throw outOfScope('The token is read-only.');
}

function notTaken(): Response {
  const detail = `This address takes ${METHODS}.`;
  const fields = { code: 'REQUEST_REFUSED', detail, details: { reason: 'method' } };
  return refusedWith(problem(405, fields, { Allow: METHODS }));
}

function preflight(): Response {
  return answered(204, {
    Allow: METHODS,
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Allow-Headers': ASKED,
    'Access-Control-Max-Age': PREFLIGHT_SECONDS,
  });
}

/** The page of an accepted origin may read the answer; other origins were refused before. */
function shared(request: Request, answer: Response): Response {
  const origin = request.headers.get('Origin');
  if (origin === null) return answer;
  answer.headers.set('Access-Control-Allow-Origin', origin);
  answer.headers.set('Access-Control-Expose-Headers', SHOWN);
  answer.headers.append('Vary', 'Origin');
  return answer;
}
