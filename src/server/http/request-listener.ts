/** The first to see a request: the headers of every answer, the access checks, and addresses that no URL has. */
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
  /** Known when the server listens. */
  readonly access: () => AccessCheck;
  /** Paths that everyone may have. */
  readonly isPublic: (path: string) => boolean;
  readonly unproven: UnprovenConnections;
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void;
  readonly onUnexpected: (thrown: unknown) => void;
}

const principals = new WeakMap<IncomingMessage, Principal>();

/** Who was admitted with this request; null where nobody was asked. */
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
  const isOpen = isPublic(path);
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

/** URLs turn these into something else, silently. */
function oddAddress(path: string): Refusal | null {
  if (path.startsWith('/') && !path.startsWith('//') && !path.includes('\\')) return null;
  return { status: 404, reason: 'route', detail: 'There is nothing at this address.' };
}

function send(response: ServerResponse, { status, body, headers }: Reply): void {
  response.writeHead(status, { ...headers });
  response.end(JSON.stringify(body));
}
