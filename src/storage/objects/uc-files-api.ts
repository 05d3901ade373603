/** Sends one request to the Databricks Files API over `fetch`, and interprets its answer. */
import { messageOf, RekindleError } from '../../core/errors.js';
import { RequestFailure, safeText } from './request-failure.js';
import type { Attempt } from './retry-policy.js';

export interface FilesRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  readonly kind: 'files' | 'directories';
  /** Absolute, such as `/Volumes/main/agents/state/a/b`; not percent-encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export class UcFilesApi {
  readonly #origin: string;
  readonly #getToken: () => string | Promise<string>;

  /** @throws INVALID_ARGUMENT */
  constructor(host: string, getToken: () => string | Promise<string>) {
    this.#origin = originOf(host);
    this.#getToken = getToken;
  }

  /** The answer, or null for 404. Only GET leaves a body to read. @throws RequestFailure for any other status except 2xx */
  async send(request: FilesRequest, { signal }: Attempt): Promise<Response | null> {
    const token = await this.#token();
    try {
      const response = await this.#fetch(request, token, signal);
      if (response.ok && request.method === 'GET') return response;
      const text = await response.text(); // always read, so that the connection can be reused
      if (response.ok) return response;
      if (response.status === 404) return null;
      throw refusal(response, text, token);
    } catch (thrown) {
      throw networkFailure(thrown, token);
    }
  }

  /** Redirects are not followed: they lead to a login page instead of an object. */
  async #fetch(request: FilesRequest, token: string, signal: AbortSignal): Promise<Response> {
    const { method, kind, path, query, body } = request;
    const url = new URL(
      `${this.#origin}/api/2.0/fs/${kind}${path.split('/').map(encodeURIComponent).join('/')}`,
    );
    for (const [key, value] of Object.entries(query ?? {})) url.searchParams.set(key, value);
    const headers: Record<string, string> = {
      authorization: `Bearer ${token}`,
      'accept-encoding': 'identity', // so that the announced length is the object's length
    };
    if (body) headers['content-type'] = 'application/octet-stream';
    const init = { method, headers, signal, redirect: 'manual' } as const;
    return fetch(url, body ? { ...init, body: body as Uint8Array<ArrayBuffer> } : init);
  }

  async #token(): Promise<string> {
    let token: string;
    try {
      token = await this.#getToken();
    } catch (thrown) {
      if (thrown instanceof RequestFailure) throw thrown;
      throw new RequestFailure(`no token (${safeText(messageOf(thrown), [])}).`, { transient: false });
    }
    // Checked here, because `fetch` would repeat an invalid token in its message.
    if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
    throw new RequestFailure('the token is empty or has characters that no token has.', { transient: false });
  }
}

/** Errors of `fetch` and its body; the reason is in the cause. */
export function networkFailure(thrown: unknown, token = ''): RequestFailure {
  if (thrown instanceof RequestFailure) return thrown;
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const text = cause === undefined ? messageOf(thrown) : `${messageOf(thrown)}: ${messageOf(cause)}`;
  return new RequestFailure(`no whole answer (${safeText(text, [token])}).`);
}

function refusal(response: Response, text: string, token: string): RequestFailure {
  const { code, message } = problemOf(text);
  const said = `the server answered ${response.status}${code ? ` (${code})` : ''}: ${message}`;
  return new RequestFailure(safeText(said, [token]), {
    status: response.status,
    serverCode: code && safeText(code, [token]),
    retryAfter: response.headers.get('retry-after') ?? undefined,
  });
}

function problemOf(text: string): { code: string | undefined; message: string } {
  try {
    const body = JSON.parse(text) as { error_code?: unknown; message?: unknown } | null;
    const code = typeof body?.error_code === 'string' ? body.error_code : undefined;
    return { code, message: typeof body?.message === 'string' ? body.message : text };
  } catch {
    return { code: undefined, message: text };
  }
}

/** Plain HTTP would reveal the token on the network, so it is allowed only for this machine. */
function originOf(host: string): string {
  const url = /^[a-z]+:\/\//i.test(host) ? host : `https://${host}`;
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const local = parsed !== null && ['127.0.0.1', '[::1]', 'localhost'].includes(parsed.hostname);
  const fine = parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && local);
  if (parsed && fine && parsed.username === '' && parsed.password === '') return parsed.origin;
  throw new RekindleError(
    'INVALID_ARGUMENT',
    'The host is that of a workspace, such as https://my-workspace.cloud.databricks.com, without a user name.',
    { details: { argument: 'host' } },
  );
}
