/**
 * What every request is asked before anything else looks at it, in this order: for whom it is (Host), where it comes from (Origin),
 * how many there were, and the token.
 *
 * Host and Origin keep out web pages: a page that makes a name of its own point to this machine sends that name as Host, and a page
 * on another site sends its Origin. Programs send no Origin, and need the token as everyone does.
 */
import { RateLimit } from './rate-limit.js';
import type { Refusal } from './refusal.js';
import { isSameToken, tokenDigest } from './token.js';

export interface AccessOptions {
  readonly token: string;
  /** The address that was asked for, and the port that it became. */
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly requestsPerSecond: number;
}

/** The headers as they came; undefined where there was none. */
export interface AccessRequest {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
  readonly address: string;
  /** The page itself and the health check are the same for everyone. */
  readonly needsToken: boolean;
}

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];
/** Wrong tokens in a second for each address: guessing is hopeless, and noticed. */
const WRONG_TOKENS_PER_SECOND = 10;

export class AccessCheck {
  readonly #token: Buffer;
  /** With a port; those without one stand for every port. */
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #requests: RateLimit;
  readonly #wrongTokens = new RateLimit(WRONG_TOKENS_PER_SECOND);

  constructor(options: AccessOptions) {
    this.#token = tokenDigest(options.token);
    const { host, port } = options;
    const own = [...LOOPBACK_NAMES, host.includes(':') ? `[${host}]` : host];
    const hosts = own.map((name) => `${name}:${port}`);
    this.#hosts = new Set([...hosts, ...options.allowedHosts].map((name) => name.toLowerCase()));
    const origins = [...hosts.map((name) => `http://${name}`), ...options.allowedOrigins];
    this.#origins = new Set(origins.map((origin) => origin.toLowerCase()));
    this.#requests = new RateLimit(options.requestsPerSecond);
  }

  /** Null when it may go on. */
  check(request: AccessRequest): Refusal | null {
    return (
      this.#checkHost(request) ??
      this.#checkOrigin(request) ??
      this.#checkRate(request) ??
      this.#checkToken(request)
    );
  }

  /** Wrong ones are counted for each address. */
  judgeToken(given: string, address: string): 'right' | 'wrong' | 'too many' {
    if (isSameToken(given, this.#token)) return 'right';
    return this.#wrongTokens.take(address) ? 'wrong' : 'too many';
  }

  #checkHost({ host }: AccessRequest): Refusal | null {
    const name = host?.toLowerCase() ?? '';
    if (this.#hosts.has(name) || this.#hosts.has(name.replace(/:\d+$/, ''))) return null;
    const detail =
      'The header Host names no host that is served here. Start the server with --allow-host to add one.';
    return { status: 403, reason: 'host', detail };
  }

  #checkOrigin({ origin }: AccessRequest): Refusal | null {
    if (origin === undefined || this.#origins.has(origin.toLowerCase())) return null;
    const detail = 'The header Origin names another site. Start the server with --allow-origin to add one.';
    return { status: 403, reason: 'origin', detail };
  }

  #checkRate({ address }: AccessRequest): Refusal | null {
    return this.#requests.take(address) ? null : tooMany('Too many requests.');
  }

  #checkToken({ needsToken, authorization, address }: AccessRequest): Refusal | null {
    if (!needsToken) return null;
    const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    const verdict = given === undefined ? 'wrong' : this.judgeToken(given, address);
    if (verdict === 'right') return null;
    if (verdict === 'too many') return tooMany('Too many wrong tokens.');
    const detail =
      given === undefined
        ? 'Send the token of the server: Authorization: Bearer <token>.'
        : 'The token is wrong.';
    return {
      status: 401,
      reason: 'token',
      detail,
      headers: { 'WWW-Authenticate': 'Bearer realm="rekindle"' },
    };
  }
}

function tooMany(detail: string): Refusal {
  return { status: 429, reason: 'rate', detail, headers: { 'Retry-After': '1' } };
}
