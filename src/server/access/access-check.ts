/**
 * The checks of every request, in this order: its target (Host), its source (Origin), the request rate, and
 * the caller's identity.
 *
 * Host and Origin keep out web pages: a page that resolves its own name to this machine sends that name as
 * Host, and a page of another site sends its Origin. Programs send no Origin, but need a token, too.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type AuditTrail, UNKNOWN_CALLER } from './audit-trail.js';
import { OWNER, type Principal } from './principal.js';
import { RateLimit } from './rate-limit.js';
import type { Refusal } from './refusal.js';
import { isSameToken, tokenDigest } from './token.js';

/**
 * The host's own authentication. Null: unknown caller, so the token decides. An error becomes a server error.
 */
export type Authenticate = (request: {
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
}) => Promise<Principal | null> | Principal | null;

export interface AccessOptions {
  /** The owner's token, which has access to everything. */
  readonly token: string;
  /** The principal of any other token. */
  readonly principalOf?: (token: string) => Promise<Principal | null>;
  readonly authenticate?: Authenticate;
  /** The requested address, and the actual port. */
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly requestsPerSecond: number;
  readonly audit: AuditTrail;
}

/** The headers as received. */
export interface AccessRequest {
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  /** False for the page and the health check, which are public. */
  readonly needsToken: boolean;
}

/** The result of the checks. `principal` is null for public paths. */
export type Admission =
  | { readonly refusal: Refusal }
  | { readonly refusal: null; readonly principal: Principal | null };

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
/** Limit of wrong tokens per second and address, which makes guessing hopeless. */
const WRONG_TOKENS_PER_SECOND = 10;

export class AccessCheck {
  readonly #options: AccessOptions;
  readonly #token: Buffer;
  /** With a port; names without one apply to every port. */
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #requests: RateLimit;
  readonly #wrongTokens = new RateLimit(WRONG_TOKENS_PER_SECOND);

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#token = tokenDigest(options.token);
    const { host, port } = options;
    const own = [...LOOPBACK_NAMES, host.includes(':') ? `[${host}]` : host];
    const hosts = own.map((name) => `${name}:${port}`);
    this.#hosts = new Set([...hosts, ...options.allowedHosts].map((name) => name.toLowerCase()));
    const origins = [...hosts.map((name) => `http://${name}`), ...options.allowedOrigins];
    this.#origins = new Set(origins.map((origin) => origin.toLowerCase()));
    this.#requests = new RateLimit(options.requestsPerSecond);
  }

  /** @throws what the host's own authentication and the token store throw */
  async admit(request: AccessRequest): Promise<Admission> {
    const { headers, address, needsToken } = request;
    const refusal = this.#checkHost(headers) ?? this.#checkOrigin(headers) ?? this.#checkRate(address);
    if (refusal) return { refusal };
    if (!needsToken) return { refusal: null, principal: null };
    const principal = await this.holderOf(request);
    return principal ? { refusal: null, principal } : { refusal: await this.#refuseToken(headers, address) };
  }

  /** Counts and records a wrong token of an address. False above the limit, where it is not recorded. */
  async countWrong(address: string): Promise<boolean> {
    if (!this.#wrongTokens.take(address)) return false;
    await this.#options.audit.record(UNKNOWN_CALLER, 'refused');
    return true;
  }

  /** The current principal of a token. */
  async principalOf(token: string): Promise<Principal | null> {
    if (isSameToken(token, this.#token)) return OWNER;
    return (await this.#options.principalOf?.(token)) ?? null;
  }

  /** The current principal of a request: its token may have ended since it was admitted. */
  async holderOf({ headers, address }: AccessRequest): Promise<Principal | null> {
    const known = await this.#options.authenticate?.({ headers, address });
    if (known) return known;
    const given = bearerOf(headers);
    return given === undefined ? null : this.principalOf(given);
  }

  #checkHost({ host }: IncomingHttpHeaders): Refusal | null {
    const name = host?.toLowerCase() ?? '';
    if (this.#hosts.has(name) || this.#hosts.has(name.replace(/:\d+$/, ''))) return null;
    const detail = 'The Host header names an unknown host. To allow it, start the server with --allow-host.';
    return { status: 403, reason: 'host', detail };
  }

  #checkOrigin({ origin }: IncomingHttpHeaders): Refusal | null {
    if (origin === undefined || this.#origins.has(origin.toLowerCase())) return null;
    const detail = 'The Origin header names another site. To allow it, start the server with --allow-origin.';
    return { status: 403, reason: 'origin', detail };
  }

  #checkRate(address: string): Refusal | null {
    return this.#requests.take(address) ? null : tooMany('Too many requests.');
  }

  async #refuseToken(headers: IncomingHttpHeaders, address: string): Promise<Refusal> {
    const isGiven = bearerOf(headers) !== undefined;
    if (isGiven && !(await this.countWrong(address))) return tooMany('Too many wrong tokens.');
    const detail = isGiven
      ? 'The token is wrong.'
      : 'Send the token of the server: Authorization: Bearer <token>.';
    const asking = { 'WWW-Authenticate': 'Bearer realm="rekindle"' };
    return { status: 401, reason: 'token', detail, headers: asking };
  }
}

function bearerOf({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization)?.[1];
}

function tooMany(detail: string): Refusal {
  return { status: 429, reason: 'rate', detail, headers: { 'Retry-After': '1' } };
}
