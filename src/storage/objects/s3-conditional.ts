/**
 * Compare-and-set on objects of a bucket, with `If-None-Match` and `If-Match`. Each write carries a nonce in its metadata. If
 * an answer was lost and the next try is refused, the nonce of the stored object shows whether the first one was stored.
 */
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import type { Name } from '../ports.js';
import type { ConditionalObjects, VersionedObject, WriteCondition } from './object-storage.js';
import { RequestFailure } from './request-failure.js';
import type { S3Target } from './s3-multipart.js';
import { answerOf, isAbsent, type S3Call, type S3Session } from './s3-session.js';
import { wholeBody } from './whole-body.js';

const NONCE = 'rekindle-write';
/** `Last-Modified` and `Date` have whole seconds. */
const CLOCK_STEP_MS = 1_000;
/** With these answers the server did nothing. */
const DID_NOTHING = new Set([429, 503]);

export class S3Conditional implements ConditionalObjects {
  readonly #session: S3Session;
  readonly #targetOf: (name: Name) => S3Target;

  constructor(session: S3Session, targetOf: (name: Name) => S3Target) {
    this.#session = session;
    this.#targetOf = targetOf;
  }

  async read(name: Name): Promise<VersionedObject | null> {
    const target = this.#targetOf(name);
    return this.#session.call({ operation: 'get', name: target.Key }, async (call) => {
      const { answer, dateMs } = await getWithDate(call, target);
      if (!answer) return null;
      const body = answer.Body as Readable;
      call.signal.addEventListener('abort', () => body.destroy(), { once: true });
      const bytes = await wholeBody(body, answer.ContentLength, call);
      const modifiedMs = answer.LastModified?.getTime();
      const known = modifiedMs !== undefined && dateMs !== null;
      const ageMs = known ? Math.max(0, dateMs - modifiedMs - CLOCK_STEP_MS) : null;
      return { bytes, version: versionIn(answer.ETag), ageMs };
    });
  }

  async writeIf(name: Name, bytes: Uint8Array, condition: WriteCondition): Promise<string | null> {
    const target = this.#targetOf(name);
    const nonce = randomBytes(9).toString('base64url');
    const input = { ...target, Body: bytes, Metadata: { [NONCE]: nonce }, ...headersOf(condition) };
    let unclear = false;
    const put = async (call: S3Call) => {
      try {
        const { s3, client, signal } = call;
        const answer = await client.send(new s3.PutObjectCommand(input), { abortSignal: signal });
        return versionIn(answer.ETag);
      } catch (thrown) {
        const { status, name: code } = answerOf(thrown);
        if (status === 412 || (status === 404 && condition.ifMatch !== undefined && code !== 'NoSuchBucket'))
          return unclear ? await ownVersion(call, target, nonce, condition) : null;
        // Two conditional writes at the same moment: neither has won yet.
        if (status === 409)
          throw new RequestFailure('the server answered 409: another write was in progress.');
        if (!DID_NOTHING.has(status ?? 0)) unclear = true;
        throw thrown;
      }
    };
    return this.#session.call({ operation: 'put', name: target.Key }, put, { uploadBytes: bytes.length });
  }
}

function headersOf({ ifAbsent, ifMatch }: WriteCondition) {
  if (ifAbsent) return { IfNoneMatch: '*' };
  return ifMatch === undefined ? {} : { IfMatch: ifMatch };
}

/** The version of the object if the write with this nonce made it; null if another write did. */
async function ownVersion(
  { s3, client, signal }: S3Call,
  target: S3Target,
  nonce: string,
  condition: WriteCondition,
): Promise<string | null> {
  const answer = await client
    .send(new s3.HeadObjectCommand(target), { abortSignal: signal })
    .catch((thrown: unknown) => {
      if (isAbsent(thrown)) return null;
      throw thrown;
    });
  if (answer?.Metadata?.[NONCE] === nonce) return versionIn(answer.ETag);
  if (condition.ifAbsent) return null;
  // It may have been stored and then replaced.
  throw new RequestFailure('an answer was lost, and the object has been changed since.', { transient: true });
}

/** Compatible servers may leave out the quotes. */
function versionIn(etag: string | undefined): string {
  if (!etag) throw new RequestFailure('the answer has no ETag.', { transient: false });
  return etag;
}

/** The SDK does not return the `Date` header. */
async function getWithDate(
  { s3, client, signal }: S3Call,
  target: S3Target,
): Promise<{ answer: GetObjectCommandOutput | null; dateMs: number | null }> {
  const command = new s3.GetObjectCommand({ ...target, ChecksumMode: 'ENABLED' });
  let date: string | undefined;
  command.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const { headers } = result.response as { headers?: Readonly<Record<string, string>> };
      date = headers?.['date'];
      return result;
    },
    { step: 'deserialize', name: 'dateOfAnswer' },
  );
  try {
    const answer = await client.send(command, { abortSignal: signal });
    const dateMs = Date.parse(date ?? '');
    return { answer, dateMs: Number.isNaN(dateMs) ? null : dateMs };
  } catch (thrown) {
    if (isAbsent(thrown)) return { answer: null, dateMs: null };
    throw thrown;
  }
}
