/** Objects in a bucket of S3, or of a compatible server. */
import type { Readable } from 'node:stream';
import type { ListObjectsV2Output } from '@aws-sdk/client-s3';
import { isRekindleError, RekindleError } from '../../core/errors.js';
import { decodeNameSegment } from '../name-encoding.js';
import { keyOf } from '../name-key.js';
import type { Name } from '../ports.js';
import { allPages, nextPage } from './list-pages.js';
import type { ConditionalObjects, ObjectEntry, ObjectInfo, ObjectStorage } from './object-storage.js';
import { assertWholeNumber } from './option-check.js';
import { placePrefix } from './place-prefix.js';
import type { RetryOptions } from './retry-policy.js';
import { S3Conditional } from './s3-conditional.js';
import { putInParts, type S3Target } from './s3-multipart.js';
import { isAbsent, type S3Connection, S3Session } from './s3-session.js';
import { toldInfo } from './told-info.js';
import { wholeBody } from './whole-body.js';

const MIB = 1024 * 1024;
/** Limit of S3. */
const PART_BYTES_MIN = 5 * MIB;
const KEY_BYTES_MAX = 1024;

/** Options of `S3Objects`, including the connection. */
export interface S3ObjectsOptions extends S3Connection {
  readonly bucket: string;
  /** Key prefix, taken literally. Default: the whole bucket. */
  readonly prefix?: string | undefined;
  /** Larger objects are uploaded in parts of this many bytes, at least 5 MiB. Default 8 MiB. */
  readonly partBytes?: number | undefined;
  /** Longest silence of the server in milliseconds. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  readonly retries?: RetryOptions | undefined;
  /** Objects per page of `list`. Default: the server's, usually 1,000. */
  readonly pageSize?: number | undefined;
}

/** An object store in an S3 bucket. Needs the optional package `@aws-sdk/client-s3`. */
export class S3Objects implements ObjectStorage {
  readonly #session: S3Session;
  readonly #bucket: string;
  readonly #start: string;
  readonly #partBytes: number;
  readonly #pageSize: number | undefined;
  readonly conditional: ConditionalObjects;

  /** Sends nothing before the first call. @throws INVALID_ARGUMENT */
  constructor(options: S3ObjectsOptions) {
    assertOptions(options);
    const prefix = placePrefix(options.prefix);
    this.#bucket = options.bucket;
    this.#start = prefix === '' ? '' : `${prefix}/`;
    this.#partBytes = options.partBytes ?? 8 * MIB;
    this.#pageSize = options.pageSize;
    this.#session = new S3Session(options, { ...options.retries, timeoutMs: options.timeoutMs });
    this.conditional = new S3Conditional(this.#session, (name) => this.#target(name));
  }

  async put(name: Name, bytes: Uint8Array): Promise<void> {
    const target = this.#target(name);
    if (bytes.length > this.#partBytes) return this.#putInParts(target, bytes);
    await this.#session.call(
      { operation: 'put', name: target.Key },
      ({ s3, client, signal }) =>
        client.send(new s3.PutObjectCommand({ ...target, Body: bytes }), { abortSignal: signal }),
      { uploadBytes: bytes.length },
    );
  }

  /** A repeated "complete upload" whose first answer was lost may find no upload. Only a new upload gives certainty. */
  async #putInParts(target: S3Target, bytes: Uint8Array): Promise<void> {
    try {
      await putInParts(this.#session, target, bytes, this.#partBytes);
    } catch (thrown) {
      const gone = isRekindleError(thrown) && thrown.details['serverCode'] === 'NoSuchUpload';
      if (!gone) throw thrown;
      await putInParts(this.#session, target, bytes, this.#partBytes);
    }
  }

  async get(name: Name): Promise<Uint8Array | null> {
    const target = this.#target(name);
    return this.#session.call({ operation: 'get', name: target.Key }, async (call) => {
      const { s3, client, signal } = call;
      const answer = await nullIfAbsent(
        client.send(new s3.GetObjectCommand({ ...target, ChecksumMode: 'ENABLED' }), { abortSignal: signal }),
      );
      if (!answer) return null;
      const body = answer.Body as Readable;
      signal.addEventListener('abort', () => body.destroy(), { once: true });
      return wholeBody(body, answer.ContentLength, call);
    });
  }

  /** A missing bucket looks like an absent object here: the answer has no body with a code. */
  async stat(name: Name): Promise<ObjectInfo | null> {
    const target = this.#target(name);
    return this.#session.call({ operation: 'stat', name: target.Key }, async ({ s3, client, signal }) => {
      const answer = await nullIfAbsent(
        client.send(new s3.HeadObjectCommand(target), { abortSignal: signal }),
      );
      return answer && toldInfo(answer.ContentLength, answer.LastModified?.getTime());
    });
  }

  /** The server's answer does not show whether something was there, so it is checked first. */
  async delete(name: Name): Promise<boolean> {
    if (!(await this.stat(name))) return false;
    const target = this.#target(name);
    await this.#session.call({ operation: 'delete', name: target.Key }, ({ s3, client, signal }) =>
      client.send(new s3.DeleteObjectCommand(target), { abortSignal: signal }),
    );
    return true;
  }

  /** Reads all pages before the first entry: not every S3-compatible server (nor every kind of bucket) lists in key order. */
  async *list(prefix: Name): AsyncGenerator<ObjectEntry> {
    const start = this.#below(prefix);
    const found = await this.#pages({ Prefix: start }, ({ Contents = [] }) =>
      Contents.flatMap(({ Key = '', Size, LastModified, ETag }) => {
        const key = Key.slice(start.length);
        const name = key.split('/').map(decodeNameSegment);
        if (!isWhole(name)) return [];
        const version = ETag === undefined ? {} : { version: ETag };
        return [{ key, entry: { name, ...toldInfo(Size, LastModified?.getTime()), ...version } }];
      }),
    );
    for (const { entry } of found.sort((a, b) => (a.key < b.key ? -1 : 1))) yield entry;
  }

  async names(prefix: Name): Promise<string[]> {
    const start = this.#below(prefix);
    const found = await this.#pages(
      { Prefix: start, Delimiter: '/' },
      ({ Contents = [], CommonPrefixes = [] }) => [
        ...Contents.map(({ Key = '' }) => Key.slice(start.length)),
        ...CommonPrefixes.map(({ Prefix = '' }) => Prefix.slice(start.length, -1)),
      ],
    );
    return [...new Set(found.map(decodeNameSegment).filter((segment) => segment !== null))].sort();
  }

  #below(prefix: Name): string {
    return prefix.length === 0 ? this.#start : `${this.#start}${keyOf(prefix)}/`;
  }

  #pages<T>(
    about: { readonly Prefix: string; readonly Delimiter?: string },
    entriesOf: (page: ListObjectsV2Output) => T[],
  ): Promise<T[]> {
    const request = { operation: 'list', name: about.Prefix === '' ? this.#bucket : about.Prefix };
    return allPages((ContinuationToken) =>
      this.#session.call(request, async ({ s3, client, signal }) => {
        const input = { Bucket: this.#bucket, ...about, ContinuationToken, MaxKeys: this.#pageSize };
        const page = await client.send(new s3.ListObjectsV2Command(input), { abortSignal: signal });
        const next = nextPage(page.IsTruncated === true, page.NextContinuationToken, ContinuationToken);
        return { entries: entriesOf(page), next };
      }),
    );
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  #target(name: Name): S3Target {
    const Key = this.#start + keyOf(name);
    const bytes = Buffer.byteLength(Key);
    if (bytes > KEY_BYTES_MAX) {
      const problem = `longer than the ${KEY_BYTES_MAX} bytes that S3 allows (${bytes})`;
      throw new RekindleError('INVALID_NAME', `The key ${Key.slice(0, 80)}... is not allowed: ${problem}.`, {
        details: { name: Key.slice(0, 80), problem },
      });
    }
    return { Bucket: this.#bucket, Key };
  }
}

async function nullIfAbsent<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (thrown) {
    if (isAbsent(thrown)) return null;
    throw thrown;
  }
}

function isWhole(name: readonly (string | null)[]): name is string[] {
  return name.every((segment) => segment !== null);
}

function assertOptions(options: S3ObjectsOptions): void {
  const refuse = (message: string, details: Record<string, string>) => {
    throw new RekindleError('INVALID_ARGUMENT', message, { details });
  };
  const { bucket, partBytes, endpoint, pageSize } = options;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/.test(bucket))
    refuse('The bucket needs a name: letters, digits, `.`, `_` and `-`.', { bucket: String(bucket) });
  if ((options.accessKeyId === undefined) !== (options.secretAccessKey === undefined))
    refuse('Give both `accessKeyId` and `secretAccessKey`, or neither.', { argument: 'accessKeyId' });
  assertWholeNumber('partBytes', partBytes, PART_BYTES_MIN);
  assertWholeNumber('pageSize', pageSize, 1);
  if (endpoint !== undefined && !(URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol)))
    refuse('`endpoint` is a URL that begins with http:// or https://.', { argument: 'endpoint' });
}
