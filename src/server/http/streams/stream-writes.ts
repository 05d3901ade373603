/** Creates, appends to, closes and deletes streams. */
import type { AppendOutcome } from '../../../streams/append-decision.js';
import type { CreateOutcome, ForkRequest } from '../../../streams/create-decision.js';
import { problem } from '../problem.js';
import { answered, badRequest, conflict, missing, refusedWith, type StreamCall } from './stream-call.js';
import { isReserved, streamPathOf } from './stream-path.js';
import {
  closedHeader,
  closesStream,
  expiryOf,
  HEADERS,
  type HeaderOf,
  infoHeaders,
  invalid,
  offsetOf,
  positionOf,
  producerOf,
  shortText,
  whole,
} from './stream-wire.js';

export async function putStream(call: StreamCall): Promise<Response> {
  const { streams, path, header, url } = call;
  const type = header('Content-Type');
  const request = { ...expiryOf(header), closes: closesStream(header), fork: forkOf(header) };
  const body = await call.body();
  return created(await streams.create(path, { ...request, type, body }), url);
}

function created(outcome: CreateOutcome, { origin, pathname }: URL): Response {
  switch (outcome.kind) {
    case 'created':
      return answered(201, { ...infoHeaders(outcome.info), Location: `${origin}${pathname}` });
    case 'exists':
      return answered(200, infoHeaders(outcome.info));
    case 'source-missing':
      return missing('missing');
    case 'beyond':
      return badRequest(
        'The source ends before this offset, or the append after it ends before the sub-offset.',
      );
    case 'conflict':
      return conflict(WHY_NOT_CREATED[outcome.why]);
  }
}

const WHY_NOT_CREATED = {
  differs: 'Another stream is at this address.',
  deleted: 'The stream at this address was deleted and is kept for its forks.',
  'source-type': 'The source has another Content-Type.',
  'source-deleted': 'The source was deleted.',
} as const;

function forkOf(header: HeaderOf): ForkRequest | null {
  const source = header(HEADERS.forkedFrom);
  const at = header(HEADERS.forkOffset);
  const sub = header(HEADERS.forkSub);
  if (source === null) {
    if (at === null && sub === null) return null;
    throw invalid(HEADERS.forkOffset, `needs ${HEADERS.forkedFrom}`);
  }
  return {
    path: sourcePath(source),
    at: at === null ? null : at === '-1' ? 0 : positionOf(at, HEADERS.forkOffset),
    sub: sub === null ? 0 : whole(sub, HEADERS.forkSub),
  };
}

function sourcePath(address: string): string {
  const path = streamPathOf(address);
  if (isReserved(path)) throw invalid(HEADERS.forkedFrom, 'is reserved');
  return path;
}

export async function postStream(call: StreamCall): Promise<Response> {
  const { streams, path, header } = call;
  const seq = header(HEADERS.seq);
  const expected = header(HEADERS.expected);
  const producer = producerOf(header);
  const request = {
    type: header('Content-Type') ?? '',
    closes: closesStream(header),
    seq: seq === null ? null : shortText(seq, HEADERS.seq),
    producer,
    expected: expected === null ? null : positionOf(expected, HEADERS.expected),
  };
  const body = await call.body();
  if (body.length > 0 && request.type === '') throw invalid('Content-Type', 'is missing');
  const outcome = await streams.append(path, { ...request, body });
  return appended(outcome, body.length > 0);
}

/** New content of a producer is 200, all else that is stored 204. */
function appended(outcome: AppendOutcome, hasContent: boolean): Response {
  switch (outcome.kind) {
    case 'missing':
    case 'gone':
      return missing(outcome.kind);
    case 'appended':
    case 'repeated': {
      const { next, isClosed, producer } = outcome;
      const isNew = producer !== null && hasContent && outcome.kind === 'appended';
      return answered(isNew ? 200 : 204, {
        [HEADERS.next]: offsetOf(next),
        ...closedHeader(isClosed),
        ...(producer === null
          ? {}
          : {
              [HEADERS.producerEpoch]: String(producer.epoch),
              [HEADERS.producerSeq]: String(producer.seq),
            }),
      });
    }
    case 'closed':
      return conflict('The stream is closed.', {
        [HEADERS.next]: offsetOf(outcome.next),
        ...closedHeader(true),
      });
    case 'conflict':
      return conflict(WHY_NOT_APPENDED[outcome.why], { [HEADERS.next]: offsetOf(outcome.next) });
    case 'stale': {
      const detail = 'A later start of this producer has taken over.';
      const headers = { [HEADERS.producerEpoch]: String(outcome.epoch) };
      return refusedWith(problem(403, { code: 'LEASE_LOST', detail }, headers));
    }
    case 'epoch-start':
      return badRequest(`A new ${HEADERS.producerEpoch} must begin with ${HEADERS.producerSeq} 0.`);
    case 'gap':
      return conflict('Earlier requests of this producer are missing.', {
        [HEADERS.producerExpected]: String(outcome.expected),
        [HEADERS.producerReceived]: String(outcome.received),
      });
  }
}

const WHY_NOT_APPENDED = {
  type: 'The stream has another Content-Type.',
  seq: `${HEADERS.seq} is not higher than the last one.`,
  position: `The stream does not end at ${HEADERS.expected}.`,
} as const;

export async function deleteStream({ streams, path }: StreamCall): Promise<Response> {
  const { kind } = await streams.delete(path);
  return kind === 'deleted' ? answered(204, {}) : missing(kind);
}
