/** The contract of backends where all blobs lie in a volume. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { UcVolumesObjects } from '../../../src/storage/objects/index.js';
import { backendConformance } from '../../../src/storage/testing/backend-conformance.js';
import { blobsConformance } from '../../../src/storage/testing/blobs-conformance.js';
import { Suite } from '../../../src/storage/testing/conformance-kit.js';
import { UcVolumesServer } from '../../support/uc-volumes-server.js';
import { memoryTarget } from '../conformance-targets.js';
import { besideObjects } from './object-backend-targets.js';

let server: UcVolumesServer;
let stores = 0;

beforeAll(async () => {
  server = await UcVolumesServer.start();
});
afterAll(() => server.close());

const target = besideObjects('memory with all blobs in a volume', memoryTarget(), 0, async () => {
  const { url: host, token, volume } = server;
  const prefix = `store-${++stores}`;
  return {
    openObjects: () => new UcVolumesObjects({ host, token, volume, prefix }),
    remove: async () => server.removeFolder(`${volume}/${prefix}`),
  };
});

describe(target.name, () => {
  const suite = new Suite({ describe, it }, target);
  blobsConformance(suite);
  backendConformance(suite);
});
