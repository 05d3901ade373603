/**
 * Why one request failed, in the same form for every server. Its message is safe to show: secrets are removed when it
 * is made.
 */

/** The server is busy or broken, so another try may succeed. */
const TRANSIENT_STATUS = new Set([408, 429, 500, 502, 503, 504]);
/** S3 reports a slow sender with this code and status 400. */
const TRANSIENT_CODES = new Set(['RequestTimeout']);
const TEXT_MAX = 300;
const AWS_KEY_ID = /\b(?:AKIA|ASIA)[A-Z0-9]{12,}\b/g;

export interface RequestFailureOptions {
  /** Status of the answer; undefined if there was no complete answer. */
  readonly status?: number | undefined;
  /** The server's own code for the problem. */
  readonly serverCode?: string | undefined;
  /** The unparsed header: seconds or a date. */
  readonly retryAfter?: string | undefined;
  /** If there was no answer: whether another try may help. Default true. */
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

/** A server's text, shortened for a message, with secrets removed: it may repeat the request. */
export function safeText(text: string, secrets: readonly (string | undefined)[]): string {
  let safe = text;
  for (const secret of secrets) if (secret) safe = safe.replaceAll(secret, '***');
  return safe.replace(AWS_KEY_ID, '***').replace(/\s+/g, ' ').trim().slice(0, TEXT_MAX);
}
