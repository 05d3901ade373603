/** For a test file: one S3 server behind a faulty proxy, and stores in it. */
import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';
import { S3Objects, type S3ObjectsOptions } from '../../../src/storage/objects/index.js';
import { FaultyHttpProxy } from '../../support/faulty-http-proxy.js';
import { type S3Server, startS3Server } from '../../support/s3-server.js';

export interface S3Fixture {
  server(): S3Server;
  proxy(): FaultyHttpProxy;
  /** Each with a prefix of its own, closed after the test. */
  open(options?: Partial<S3ObjectsOptions>): S3Objects;
}

export function s3Fixture(): S3Fixture {
  let server: S3Server;
  let proxy: FaultyHttpProxy;
  let stores = 0;
  beforeAll(async () => {
    server = await startS3Server();
    proxy = await FaultyHttpProxy.start(server.url);
  });
  afterAll(async () => {
    await proxy.close();
    await server.close();
  });
  beforeEach(() => proxy.reset());
  const open = (options: Partial<S3ObjectsOptions> = {}) => {
    const { bucket, accessKeyId, secretAccessKey } = server;
    const connection = { endpoint: proxy.url, forcePathStyle: true, accessKeyId, secretAccessKey };
    const objects = new S3Objects({ bucket, prefix: `Store-${++stores}/data`, ...connection, ...options });
    onTestFinished(() => objects.close());
    return objects;
  };
  return { server: () => server, proxy: () => proxy, open };
}

/** As S3 writes it. */
export function s3Refusal(code: string, message: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
}
