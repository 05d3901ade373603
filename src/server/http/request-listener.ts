/** The first to see a request: the headers of every answer, the access checks, and addresses that no URL has. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AccessCheck, AccessRequest } from '../access/access-check.js';
import type { Refusal } from '../access/refusal.js';
import type { UnprovenConnections } from '../access/unproven-connections.js';
import { PAGE_HEADERS } from '../dashboard/dashboard-assets.js';
import { refusalReply } from './problem.js';
import { tooLargeByItself } from './request-body.js';

export interface ListenerOptions {
  /** Known when the server listens. */
  readonly access: () => AccessCheck;
  /** Paths that everyone may have. */
  readonly isPublic: (path: string) => boolean;
  readonly unproven: UnprovenConnections;
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void;
}

export function requestListener({ access, isPublic, unproven, answer }: ListenerOptions): RequestListener {
  return (request, response) => {
    for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value);
    const path = (request.url ?? '').split('?')[0] ?? '';
    const isOpen = isPublic(path);
    const barred = access().check(accessRequest(request, !isOpen));
    if (!barred && !isOpen) unproven.prove(request.socket);
    const refusal = barred ?? oddAddress(path) ?? tooLargeByItself(request);
    if (refusal) refuse(response, refusal);
    else answer(request, response);
  };
}

export function accessRequest(request: IncomingMessage, needsToken: boolean): AccessRequest {
  const { host, origin, authorization } = request.headers;
  return { host, origin, authorization, needsToken, address: request.socket.remoteAddress ?? '' };
}

/** URLs turn these into something else, silently. */
function oddAddress(path: string): Refusal | null {
  if (path.startsWith('/') && !path.startsWith('//') && !path.includes('\\')) return null;
  return { status: 404, reason: 'route', detail: 'There is nothing at this address.' };
}

function refuse(response: ServerResponse, refusal: Refusal): void {
  const { status, body, headers } = refusalReply(refusal);
  response.writeHead(status, { ...headers });
  response.end(JSON.stringify(body));
}
