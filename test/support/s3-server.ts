/**
 * s3rver on 127.0.0.1 with a folder of its own. What it lacks is put before it: it answers a PUT before its file is whole, keeps no
 * checksums, knows no conditional PUT, cannot give up an upload in parts, and its tokens of pages need a cipher that Node no longer has.
 * Signatures it does not check.
 */

import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import type http from 'node:http';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';

interface Context {
  readonly method: string;
  readonly path: string;
  query: Readonly<Record<string, string | undefined>>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  status: number;
  body: unknown;
  readonly response: { get(header: string): string };
  readonly req: NodeJS.ReadableStream;
  set(header: string, value: string): void;
}

interface StoredObject {
  readonly bucket: string;
  readonly key: string;
  readonly content: NodeJS.ReadableStream | Buffer;
  readonly metadata: Readonly<Record<string, unknown>>;
}

interface Store {
  getResourcePath(bucket: string, key: string | undefined, resource: string): string;
  putMetadata(bucket: string, key: string, metadata: StoredObject['metadata'], md5: string): Promise<void>;
  putObject(object: StoredObject): Promise<{ size: number; md5: string }>;
  putPart(
    bucket: string,
    uploadId: string,
    part: number,
    content: NodeJS.ReadableStream,
  ): Promise<{ size: number; md5: string }>;
}

interface S3rver {
  readonly store: Store;
  readonly middleware: ((context: Context, next: () => Promise<void>) => Promise<void>)[];
  readonly httpServer: http.Server;
  run(): Promise<{ port: number }>;
  close(): Promise<void>;
}

export interface S3Server {
  readonly url: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Uploads in parts that were begun and neither completed nor given up. */
  unfinishedUploads(): Promise<string[]>;
  close(): Promise<void>;
}

export interface S3ServerOptions {
  /** False for a server that ignores `If-None-Match` and `If-Match` of a PUT. */
  readonly conditions?: boolean;
}

export async function startS3Server({ conditions = true }: S3ServerOptions = {}): Promise<S3Server> {
  const S3rverClass = createRequire(import.meta.url)('s3rver') as new (options: object) => S3rver;
  const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-s3-'));
  const bucket = 'agents';
  const server = new S3rverClass({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucket }],
  });
  writeBeforeAnswering(server.store);
  const uploads = server.store.getResourcePath(bucket, undefined, 'uploads');
  const compares = conditions ? [compareBeforePut()] : [];
  server.middleware.unshift(giveUpUploads(uploads), keepChecksums(), ...compares);
  const writesXml = 3; // what comes after it sees the answer as an object
  server.middleware.splice(writesXml + compares.length + 1, 0, listInPages);
  const { port } = await server.run();
  return {
    url: `http://127.0.0.1:${port}`,
    bucket,
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
    unfinishedUploads: () => fs.readdir(uploads).catch(() => []),
    close: async () => {
      server.httpServer.closeAllConnections();
      await server.close();
      await fs.rm(directory, { recursive: true, force: true });
    },
  };
}

function writeBeforeAnswering(store: Store): void {
  const write = async (file: string, content: NodeJS.ReadableStream | Buffer) => {
    const bytes = Buffer.isBuffer(content) ? content : await buffer(content);
    await fs.mkdir(path.dirname(file), { recursive: true });
    const made = `${file}.new-${randomUUID()}`; // who reads meanwhile gets the old one, whole
    await fs.writeFile(made, bytes);
    await fs.rename(made, file);
    return { size: bytes.length, md5: createHash('md5').update(bytes).digest('hex') };
  };
  store.putObject = async ({ bucket, key, content, metadata }) => {
    const written = await write(store.getResourcePath(bucket, key, 'object'), content);
    await store.putMetadata(bucket, key, metadata, written.md5);
    return written;
  };
  store.putPart = async (bucket, uploadId, part, content) => {
    const folder = path.join(store.getResourcePath(bucket, undefined, 'uploads'), uploadId);
    return write(path.join(folder, String(part)), content);
  };
}

function giveUpUploads(uploads: string) {
  return async (context: Context, next: () => Promise<void>) => {
    const { uploadId } = context.query;
    if (context.method !== 'DELETE' || uploadId === undefined) return next();
    await fs.rm(path.join(uploads, uploadId), { recursive: true, force: true });
    context.status = 204;
  };
}

function keepChecksums() {
  const kept = new Map<string, string | undefined>();
  return async (context: Context, next: () => Promise<void>) => {
    const { method, path: place, headers, query } = context;
    await next();
    const stored = method === 'PUT' && query['uploadId'] === undefined && context.status === 200;
    if (stored) kept.set(place, headers['x-amz-checksum-crc32']);
    if (method === 'POST') kept.delete(place); // of an object in parts, only the parts have one
    const checksum = kept.get(place);
    if (method === 'GET' && context.status === 200 && checksum) context.set('x-amz-checksum-crc32', checksum);
  };
}

/** As S3: of two conditional writes of one key, one is after the other. */
function compareBeforePut() {
  const etags = new Map<string, string>();
  const turns = new Map<string, Promise<void>>();
  const refuse = (context: Context, status: number, code: string) => {
    context.req.resume();
    context.status = status;
    context.set('content-type', 'application/xml');
    context.body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>Refused.</Message></Error>`;
  };
  const change = async (context: Context, next: () => Promise<void>) => {
    const { method, path: key, headers } = context;
    const stored = etags.get(key);
    const { 'if-none-match': absent, 'if-match': match } = headers;
    if (absent === '*' && stored !== undefined) return refuse(context, 412, 'PreconditionFailed');
    if (match !== undefined && stored === undefined) return refuse(context, 404, 'NoSuchKey');
    if (match !== undefined && match !== stored) return refuse(context, 412, 'PreconditionFailed');
    await next();
    if (method === 'DELETE') etags.delete(key);
    else if (context.status === 200) etags.set(key, context.response.get('etag'));
  };
  return async (context: Context, next: () => Promise<void>) => {
    const isChange = context.method === 'DELETE' || context.method === 'PUT' || context.method === 'POST';
    if (!isChange || context.query['partNumber'] !== undefined) return next();
    const before = turns.get(context.path) ?? Promise.resolve();
    const mine = before.then(() => change(context, next));
    const settled = mine.catch(() => {});
    turns.set(context.path, settled);
    try {
      await mine;
    } finally {
      if (turns.get(context.path) === settled) turns.delete(context.path);
    }
  };
}

interface ListResult {
  Contents: { readonly Key: string }[];
  CommonPrefixes?: { readonly Prefix: string }[];
  KeyCount: number;
  IsTruncated: boolean;
  NextContinuationToken?: string;
}

/** Leaves the objects directly below the prefix, and takes the others together. */
function grouped(result: ListResult, prefix: string): ListResult['Contents'] {
  const nextSlash = (key: string) => key.indexOf('/', prefix.length);
  const deeper = result.Contents.filter(({ Key }) => nextSlash(Key) >= 0);
  const prefixes = new Set(deeper.map(({ Key }) => Key.slice(0, nextSlash(Key) + 1)));
  result.CommonPrefixes = [...prefixes].map((Prefix) => ({ Prefix }));
  return result.Contents.filter(({ Key }) => nextSlash(Key) < 0);
}

async function listInPages(context: Context, next: () => Promise<void>): Promise<void> {
  const {
    'max-keys': size = '1000',
    'continuation-token': token = 'from-0',
    delimiter, // s3rver finds no prefix whose objects are more than one folder below
    ...query
  } = context.query;
  if (query['list-type'] !== '2') return next();
  context.query = query;
  await next();
  const { ListBucketResult: result } = context.body as { ListBucketResult: ListResult };
  const first = Number(token.slice('from-'.length));
  const end = first + Number(size);
  const all = delimiter === '/' ? grouped(result, query['prefix'] ?? '') : result.Contents;
  result.Contents = all.slice(first, end);
  result.KeyCount = result.Contents.length;
  result.IsTruncated = end < all.length;
  if (result.IsTruncated) result.NextContinuationToken = `from-${end}`;
}
