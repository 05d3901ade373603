/** Why one request failed, in the same form for every server. Its message is safe to show: whoever makes one takes the secrets out. */

/** Worth another try: the server is busy or broken, and says so. */
const TRANSIENT_STATUS = new Set([408, 429, 500, 502, 503, 504]);
/** S3 tells a slow sender so, with status 400. */
const TRANSIENT_CODES = new Set(['RequestTimeout']);
const TEXT_MAX = 300;
const AWS_KEY_ID = /\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b/g;

export interface RequestFailureOptions {
  /** Of the answer; none when there was no whole answer. */
  readonly status?: number | undefined;
  /** The server's own name for the problem. */
  readonly serverCode?: string | undefined;
  /** The header as it came: seconds or a date. */
  readonly retryAfter?: string | undefined;
  /** Without an answer: whether another try may help. Default true. */
  readonly transient?: boolean;
}

export class RequestFailure extends Error {
  readonly status: number | undefined;
  readonly serverCode: string | undefined;
  readonly retryAfter: string | undefined;
  readonly transient: boolean;

  constructor(message: string, options: RequestFailureOptions = {}) {
    super(message);
    this.name = 'RequestFailure';
    this.status = options.status;
    this.serverCode = options.serverCode;
    this.retryAfter = options.retryAfter;
    this.transient =
      options.status === undefined
        ? (options.transient ?? true)
        : TRANSIENT_STATUS.has(options.status) || TRANSIENT_CODES.has(options.serverCode ?? '');
  }
}

/** A server's text, short enough for a message and without secrets: it may repeat what it was sent. */
export function safeText(text: string, secrets: readonly (string | undefined)[]): string {
  let safe = text;
  for (const secret of secrets) if (secret) safe = safe.replaceAll(secret, '***');
  return safe.replace(AWS_KEY_ID, '***').replace(/\s+/g, ' ').trim().slice(0, TEXT_MAX);
}
