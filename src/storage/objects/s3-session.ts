/** The S3 client behind the one retry policy: loaded at its first request; failures are reported in our form. */
import type { S3Client } from '@aws-sdk/client-s3';
import { isRekindleError, messageOf, RekindleError } from '../../core/errors.js';
import type { ObjectRequest } from './object-errors.js';
import { RequestFailure, safeText } from './request-failure.js';
import { type Attempt, RetryPolicy, type RetryPolicyOptions, type RunOptions } from './retry-policy.js';

type S3Package = typeof import('@aws-sdk/client-s3');

export interface S3Connection {
  readonly region?: string | undefined;
  /** URL of a server other than Amazon's. */
  readonly endpoint?: string | undefined;
  /** Puts the bucket into the path instead of the host name. Default false. */
  readonly forcePathStyle?: boolean | undefined;
  /** Give both keys or none; without them, the SDK's chain is used (environment, profiles, roles). */
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  readonly sessionToken?: string | undefined;
}

interface Loaded {
  readonly s3: S3Package;
  readonly client: S3Client;
}

export interface S3Call extends Attempt, Loaded {}

export class S3Session {
  readonly #connection: S3Connection;
  readonly #policy: RetryPolicy;
  #loaded: Promise<Loaded> | null = null;

  constructor(connection: S3Connection, policy: RetryPolicyOptions) {
    this.#connection = connection;
    this.#policy = new RetryPolicy(policy);
  }

  /** Runs one operation with its retries. @throws DEPENDENCY_MISSING, and as `RetryPolicy.run` */
  async call<T>(
    request: ObjectRequest,
    work: (call: S3Call) => Promise<T>,
    options: RunOptions = {},
  ): Promise<T> {
    const loaded = await (this.#loaded ??= load(this.#connection));
    const attempt = async (attempt: Attempt) => {
      try {
        return await work({ ...attempt, ...loaded });
      } catch (thrown) {
        throw this.#failure(thrown, attempt.signal);
      }
    };
    return this.#policy.run(request, attempt, options);
  }

  async close(): Promise<void> {
    await this.#loaded?.then(
      ({ client }) => client.destroy(),
      () => {}, // reported by the call that requested it
    );
  }

  /** Only text of the SDK's error is passed on: the error contains the request with its headers. */
  #failure(thrown: unknown, signal: AbortSignal): unknown {
    if (thrown instanceof RequestFailure || isRekindleError(thrown)) return thrown;
    if (signal.aborted) return signal.reason;
    const { accessKeyId, secretAccessKey, sessionToken } = this.#connection;
    const text = safeText(messageOf(thrown), [secretAccessKey, sessionToken, accessKeyId]);
    const { name, status, retryAfter } = answerOf(thrown);
    if (status !== undefined) {
      const said = `the server answered ${status} (${name}): ${text}`;
      return new RequestFailure(said, { status, serverCode: name, retryAfter });
    }
    if (name === 'CredentialsProviderError') {
      const advice = 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile or role.';
      return new RequestFailure(`no credentials (${text}). ${advice}`, { transient: false });
    }
    if (text.startsWith('Region is missing'))
      return new RequestFailure('no region is known. Give `region`, or set AWS_REGION.', {
        transient: false,
      });
    return new RequestFailure(`no whole answer (${text}).`);
  }
}

/** True for errors that mean "no such object"; a missing bucket is a different error. */
export function isAbsent(thrown: unknown): boolean {
  const { name, status } = answerOf(thrown);
  return status === 404 && name !== 'NoSuchBucket';
}

interface SdkError {
  readonly name?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
}

/** An answer whose body could not be read to its end has no status, because it does not count as an answer. */
export function answerOf(thrown: unknown): {
  name: string;
  status?: number;
  retryAfter?: string | undefined;
} {
  const error = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as SdkError;
  const name = error.name ?? 'unknown';
  const status = error.$metadata?.httpStatusCode;
  if (status === undefined || status < 300) return { name };
  return { name, status, retryAfter: error.$response?.headers?.['retry-after'] };
}

async function load(connection: S3Connection): Promise<Loaded> {
  const s3 = await importPackage();
  const { accessKeyId, secretAccessKey, sessionToken, endpoint } = connection;
  // Self-hosted servers usually have no regions, but the SDK requires one.
  const region = connection.region ?? (endpoint === undefined ? undefined : 'us-east-1');
  const credentials =
    accessKeyId !== undefined && secretAccessKey !== undefined
      ? { credentials: { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) } }
      : {};
  const client = new s3.S3Client({
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...credentials,
    forcePathStyle: connection.forcePathStyle ?? false,
    maxAttempts: 1, // our policy retries
    requestChecksumCalculation: 'WHEN_SUPPORTED',
    responseChecksumValidation: 'WHEN_SUPPORTED',
  });
  return { s3, client };
}

async function importPackage(): Promise<S3Package> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch (cause) {
    throw new RekindleError(
      'DEPENDENCY_MISSING',
      'Objects in S3 need the optional package @aws-sdk/client-s3. Run: npm install @aws-sdk/client-s3',
      { details: { package: '@aws-sdk/client-s3' }, cause },
    );
  }
}
