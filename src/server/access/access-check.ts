/**
 * What every request is asked before anything else looks at it, in this order: for whom it is (Host), where it comes from (Origin),
 * how many there were, and who asks.
 *
 * Host and Origin keep out web pages: a page that makes a name of its own point to this machine sends that name as Host, and a page
 * on another site sends its Origin. Programs send no Origin, and need the token as everyone does.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { OWNER, type Principal } from './principal.js';
import { RateLimit } from './rate-limit.js';
import type { Refusal } from './refusal.js';
import { isSameToken, tokenDigest } from './token.js';

/** The host's own authentication. Null: it does not know who asks, and the token decides. What it throws becomes an error of the server. */
export type Authenticate = (request: {
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
}) => Promise<Principal | null> | Principal | null;

export interface AccessOptions {
  /** Of the owner, who reaches everything. */
  readonly token: string;
  /** Whom another token stands for. */
  readonly principalOf?: (token: string) => Promise<Principal | null>;
  readonly authenticate?: Authenticate;
  /** The address that was asked for, and the port that it became. */
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly requestsPerSecond: number;
}

/** The headers as they came; undefined where there was none. */
export interface AccessRequest {
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  /** The page itself and the health check are the same for everyone. */
  readonly needsToken: boolean;
}

/** Who may go on. Null where nobody is asked who they are. */
export type Admission =
  | { readonly refusal: Refusal }
  | { readonly refusal: null; readonly principal: Principal | null };

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
/** Wrong tokens in a second for each address: guessing is hopeless, and noticed. */
const WRONG_TOKENS_PER_SECOND = 10;

export class AccessCheck {
  readonly #options: AccessOptions;
  readonly #token: Buffer;
  /** With a port; those without one stand for every port. */
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

  /** @throws what the host's own authentication throws, and what the store of tokens throws */
  async admit(request: AccessRequest): Promise<Admission> {
    const { headers, address, needsToken } = request;
    const refusal = this.#checkHost(headers) ?? this.#checkOrigin(headers) ?? this.#checkRate(address);
    if (refusal) return { refusal };
    if (!needsToken) return { refusal: null, principal: null };
    const principal = await this.holderOf(request);
    return principal ? { refusal: null, principal } : { refusal: this.#refuseToken(headers, address) };
  }

  /** Counts a wrong token for its address. False when there were too many. */
  countWrong(address: string): boolean {
    return this.#wrongTokens.take(address);
  }

  /** Whom a token stands for now. */
  async principalOf(token: string): Promise<Principal | null> {
    if (isSameToken(token, this.#token)) return OWNER;
    return (await this.#options.principalOf?.(token)) ?? null;
  }

  /** Whom a request stands for now. Of one that was admitted, the token may have ended since. */
  async holderOf({ headers, address }: AccessRequest): Promise<Principal | null> {
    const known = await this.#options.authenticate?.({ headers, address });
    if (known) return known;
    const given = bearerOf(headers);
    return given === undefined ? null : this.principalOf(given);
  }

  #checkHost({ host }: IncomingHttpHeaders): Refusal | null {
    const name = host?.toLowerCase() ?? '';
    if (this.#hosts.has(name) || this.#hosts.has(name.replace(/:\d+$/, ''))) return null;
    const detail =
      'The header Host names no host that is served here. Start the server with --allow-host to add one.';
    return { status: 403, reason: 'host', detail };
  }

  #checkOrigin({ origin }: IncomingHttpHeaders): Refusal | null {
    if (origin === undefined || this.#origins.has(origin.toLowerCase())) return null;
    const detail = 'The header Origin names another site. Start the server with --allow-origin to add one.';
    return { status: 403, reason: 'origin', detail };
  }

  #checkRate(address: string): Refusal | null {
    return this.#requests.take(address) ? null : tooMany('Too many requests.');
  }

  #refuseToken(headers: IncomingHttpHeaders, address: string): Refusal {
    const isGiven = bearerOf(headers) !== undefined;
    if (isGiven && !this.countWrong(address)) return tooMany('Too many wrong tokens.');
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
