/** The first handler of a request: common headers, access checks, and invalid addresses. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AccessCheck, AccessRequest } from '../access/access-check.js';
import type { Principal } from '../access/principal.js';
import type { Refusal } from '../access/refusal.js';
import type { UnprovenConnections } from '../access/unproven-connections.js';
import { PAGE_HEADERS } from '../dashboard/dashboard-assets.js';
import { problemOf, refusalReply } from './problem.js';
import { tooLargeByItself } from './request-body.js';
import type { Reply } from './route.js';

export interface ListenerOptions {
  /** Available once the server listens. */
  readonly access: () => AccessCheck;
  /** Whether a path is public; a browser asks without a token what it may send (`OPTIONS`). */
  readonly isPublic: (path: string, method: string) => boolean;
  readonly unproven: UnprovenConnections;
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void;
  readonly onUnexpected: (thrown: unknown) => void;
}

const principals = new WeakMap<IncomingMessage, Principal>();

/** The principal admitted with this request; null for public paths. */
export function principalOf(request: IncomingMessage): Principal | null {
  return principals.get(request) ?? null;
}

export function requestListener(options: ListenerOptions): RequestListener {
  return (request, response) => {
    listen(options, request, response).catch((thrown: unknown) =>
      send(response, problemOf(thrown, options.onUnexpected)),
    );
  };
}

async function listen(
  { access, isPublic, unproven, answer }: ListenerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value);
  const path = (request.url ?? '').split('?')[0] ?? '';
  const isOpen = isPublic(path, request.method ?? '');
  const admission = await access().admit(accessRequest(request, !isOpen));
  if (admission.refusal === null && admission.principal) {
    principals.set(request, admission.principal);
    unproven.prove(request.socket);
  }
  const refusal = admission.refusal ?? oddAddress(path) ?? tooLargeByItself(request);
  if (refusal) send(response, refusalReply(refusal));
  else answer(request, response);
}

export function accessRequest(request: IncomingMessage, needsToken: boolean): AccessRequest {
  return { headers: request.headers, needsToken, address: request.socket.remoteAddress ?? '' };
}

/** A URL parser would silently change these addresses. */
function oddAddress(path: string): Refusal | null {
  if (path.startsWith('/') && !path.startsWith('//') && !path.includes('\\')) return null;
  return { status: 404, reason: 'route', detail: 'There is nothing at this address.' };
}

function send(response: ServerResponse, { status, body, headers }: Reply): void {
  response.writeHead(status, { ...headers });
  response.end(JSON.stringify(body));
}
