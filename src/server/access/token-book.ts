import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../../core/clock.js';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import type { JsonObject } from '../../core/json.js';
import { type Static, Type } from '../../core/schema.js';
import { lazySchema } from '../../core/schema-check.js';
import { encodeNameSegment } from '../../storage/name-encoding.js';
import type { StorageBackend } from '../../storage/ports.js';
import type { Principal, TokenScope } from './principal.js';
import { isSameToken, tokenDigest } from './token.js';

const NAME = ['server', 'tokens.json'];
/** How long a running server may accept a revoked token, in ms. */
const FRESH_MS = 1_000;
/** The same for an unknown token, which may be new. */
const UNKNOWN_FRESH_MS = 20;
const TRIES = 10;
const TOKENS_MAX = 1_000;

const Names = Type.Union([Type.Null(), Type.Array(Type.String())]);
const StoredToken = Type.Object({
  id: Type.String(),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  agents: Names,
  roots: Names,
  session: Type.Union([Type.Null(), Type.String()]),
  may_write: Type.Boolean(),
  created_at: Type.String(),
  expires_at: Type.Union([Type.Null(), Type.String()]),
});
type StoredToken = Static<typeof StoredToken>;
const check = lazySchema(Type.Object({ tokens: Type.Array(StoredToken) }));

/** A stored token, without its secret. */
export interface TokenInfo extends TokenScope {
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** Null: it never expires. */
  readonly expiresAt: string | null;
  readonly hasExpired: boolean;
}

/** A created token with its secret. */
export interface NewToken extends TokenInfo {
  /** The secret. It cannot be shown again, because only its digest is stored. */
  readonly token: string;
}

/**
 * Tokens with access to a part of the store. The document `server/tokens` stores their digests, never the
 * tokens; its file must be private to the user.
 *
 *     const { token } = await new TokenBook(backend).create({ agents: ['ann'], roots: [], session: null, mayWrite: false });
 */
export class TokenBook {
  readonly #backend: StorageBackend;
  readonly #clock: Clock;
  #known: ReadonlyMap<string, StoredToken> = new Map();
  #loading: Promise<void> | null = null;
  #loadedAt = Number.NEGATIVE_INFINITY;

  constructor(backend: StorageBackend, clock: Clock = systemClock) {
    this.#backend = backend;
    this.#clock = clock;
  }

  /**
   * Creates a token. Durable when it resolves.
   * @param expiresMs expiry, in ms since 1970; null: never
   * @throws INVALID_ARGUMENT for a scope without access or an expiry in the past, INVALID_NAME,
   * LIMIT_EXCEEDED, STORAGE_FAILED
   */
  async create(scope: TokenScope, expiresMs: number | null = null): Promise<NewToken> {
    assertScope(scope);
    const nowMs = this.#clock.nowMs();
    if (expiresMs !== null && !(expiresMs > nowMs)) throw refused('expires', 'it must be in the future');
    const made = newSecret();
    const { agents, roots, session, mayWrite } = scope;
    const row: StoredToken = {
      ...{ id: made.id, sha256: made.sha256 },
      agents: agents === 'all' ? null : [...agents],
      roots: roots === 'all' ? null : [...roots],
      ...{ session, may_write: mayWrite, created_at: new Date(nowMs).toISOString() },
      expires_at: expiresMs === null ? null : new Date(expiresMs).toISOString(),
    };
    await this.#change((tokens) => {
      if (tokens.length >= TOKENS_MAX)
        throw new RekindleError('LIMIT_EXCEEDED', `There are ${TOKENS_MAX} tokens already.`, {
          details: { limit: 'tokens', max: TOKENS_MAX },
        });
      return [...tokens, row];
    });
    return { ...this.#infoOf(row), token: made.token };
  }

  /** Oldest first. @throws DOCUMENT_DAMAGED, PATH_REFUSED for a file that other users can read or change */
  async list(): Promise<TokenInfo[]> {
    return (await this.#read()).tokens.map((row) => this.#infoOf(row));
  }

  /**
   * Ends a token; running servers refuse it within a second. @throws TOKEN_NOT_FOUND, as `list`,
   * STORAGE_FAILED
   */
  async revoke(id: string): Promise<void> {
    await this.#change((tokens) => {
      if (!tokens.some((token) => token.id === id)) throw notFound(id);
      return tokens.filter((token) => token.id !== id);
    });
  }

  /** Replaces a token by a new one with the same scope and expiry. @throws as `revoke` */
  async rotate(id: string): Promise<NewToken> {
    const made = newSecret();
    let rotated: StoredToken | undefined;
    await this.#change((tokens) => {
      const old = tokens.find((token) => token.id === id);
      if (!old) throw notFound(id);
      const now = new Date(this.#clock.nowMs()).toISOString();
      const next = { ...old, id: made.id, sha256: made.sha256, created_at: now };
      rotated = next;
      return tokens.map((token) => (token === old ? next : token));
    });
    return { ...this.#infoOf(rotated!), token: made.token };
  }

  /** The principal of a token; null if it is unknown, revoked or expired. @throws as `list` */
  async principalOf(token: string): Promise<Principal | null> {
    const id = /^rk_([0-9a-f]{12})_/.exec(token)?.[1];
    if (id === undefined) return null;
    await this.#refresh(this.#known.has(id) ? FRESH_MS : UNKNOWN_FRESH_MS);
    const row = this.#known.get(id);
    if (!row || !isSameToken(token, Buffer.from(row.sha256, 'hex'))) return null;
    const { agents, roots, session, mayWrite, hasExpired } = this.#infoOf(row);
    return hasExpired ? null : { name: `token ${id}`, agents, roots, session, mayWrite };
  }

  /** Concurrent requests share one read of the document. */
  #refresh(freshMs: number): Promise<void> {
    if (performance.now() - this.#loadedAt < freshMs) return Promise.resolve();
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    const startedAt = performance.now();
    const { tokens } = await this.#read();
    this.#known = new Map(tokens.map((token) => [token.id, token]));
    this.#loadedAt = startedAt;
  }

  async #read(): Promise<{ readonly tokens: readonly StoredToken[]; readonly version: string | null }> {
    await this.#backend.documents.assertPrivate?.(NAME);
    const document = await this.#backend.documents.read(NAME);
    if (document === null) return { tokens: [], version: null };
    const value = document.value as JsonObject;
    if (check()(value))
      return { tokens: value['tokens'] as unknown as StoredToken[], version: document.version };
    throw new RekindleError('DOCUMENT_DAMAGED', `${NAME.join('/')} is not a list of tokens.`, {
      details: {
        name: NAME,
        violations: check()
          .violations()
          .map((violation) => ({ ...violation })),
      },
    });
  }

  async #change(decide: (tokens: readonly StoredToken[]) => readonly StoredToken[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const { tokens, version } = await this.#read();
      const next = { tokens: decide(tokens) as unknown as JsonObject[] };
      try {
        await this.#backend.documents.write(NAME, next, { ifVersion: version });
        this.#loadedAt = Number.NEGATIVE_INFINITY;
        return;
      } catch (thrown) {
        if (!isRekindleError(thrown, 'DOCUMENT_CONFLICT') || attempt === TRIES) throw thrown;
      }
    }
  }

  #infoOf(row: StoredToken): TokenInfo {
    const {
      id,
      agents,
      roots,
      session,
      may_write: mayWrite,
      created_at: createdAt,
      expires_at: expiresAt,
    } = row;
    // An unreadable expiry counts as past, so that an invalid row never extends a token.
    const hasExpired = expiresAt !== null && !(Date.parse(expiresAt) > this.#clock.nowMs());
    return {
      id,
      agents: agents ?? 'all',
      roots: roots ?? 'all',
      session,
      mayWrite,
      createdAt,
      expiresAt,
      hasExpired,
    };
  }
}

function newSecret(): { readonly id: string; readonly token: string; readonly sha256: string } {
  const id = randomBytes(6).toString('hex');
  const token = `rk_${id}_${randomBytes(24).toString('base64url')}`;
  return { id, token, sha256: tokenDigest(token).toString('hex') };
}

function assertScope({ agents, roots, session }: TokenScope): void {
  for (const names of [agents, roots]) if (names !== 'all') for (const name of names) encodeNameSegment(name);
  if (agents !== 'all' && roots !== 'all' && agents.length + roots.length === 0)
    throw refused('scope', 'it reaches nothing: name an agent, a root session or a session');
  if (session !== null && roots !== 'all' && roots.length === 0)
    throw refused('session', 'its root must be in reach');
}

function refused(field: string, problem: string): RekindleError {
  return new RekindleError('INVALID_ARGUMENT', `The token is refused: ${problem}.`, {
    details: { field, problem },
  });
}

function notFound(id: string): RekindleError {
  return new RekindleError('TOKEN_NOT_FOUND', `There is no token ${JSON.stringify(id)}.`, {
    details: { id },
  });
}
