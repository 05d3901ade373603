/** The public suite of the Durable Streams protocol, against a server over files that syncs. */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { runConformanceTests } from '@durable-streams/server-conformance-tests';
import { afterAll, beforeAll, describe } from 'vitest';
import { OWNER } from '../../src/server/access/principal.js';
import { type RunningServer, startServer } from '../../src/server/rekindle-server.js';
import { FileStorage } from '../../src/storage/file/file-storage.js';
import { TOKEN } from './server-kit.js';

/** The suite asks from a page of this origin, and sends no token. */
const SUITE_ORIGIN = 'https://example.com';

describe('the Durable Streams protocol', () => {
  const suite = { baseUrl: '', subscriptions: true };
  let dir: string;
  let server: RunningServer;

  beforeAll(async () => {
    dir = await fs.mkdtemp(path.join(os.tmpdir(), 'rekindle-suite-'));
    server = await startServer({
      backend: new FileStorage(dir),
      token: TOKEN,
      port: 0,
      authenticate: () => OWNER,
      allowedOrigins: [SUITE_ORIGIN],
      allowLocalWebhooks: true,
    });
    suite.baseUrl = server.url;
  });
  afterAll(async () => {
    await server.close();
    await fs.rm(dir, { recursive: true, force: true });
  });

  runConformanceTests(suite);
});
