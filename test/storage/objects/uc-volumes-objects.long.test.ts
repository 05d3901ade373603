import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openObjects, UcVolumesObjects, type UcVolumesOptions } from '../../../src/storage/objects/index.js';
import { FaultyHttpProxy } from '../../support/faulty-http-proxy.js';
import { UcVolumesServer } from '../../support/uc-volumes-server.js';
import { AWKWARD_OVER_NETWORK } from './awkward-over-network.js';
import { errorOf, networkContract, QUICK } from './network-contract.js';
import { namesOf, objectsContract, textOf } from './objects-contract.js';

const NAME = ['agents', 'one', 'object'];

let server: UcVolumesServer;
let proxy: FaultyHttpProxy;
let stores = 0;

beforeAll(async () => {
  server = await UcVolumesServer.start();
  proxy = await FaultyHttpProxy.start(server.url);
});
afterAll(async () => {
  await proxy.close();
  await server.close();
});
beforeEach(() => proxy.reset());

/** Each with a prefix of its own. */
function open(options: Partial<UcVolumesOptions> = {}): UcVolumesObjects {
  const { volume, token } = server;
  const prefix = `Store ${++stores}/data`;
  const objects = new UcVolumesObjects({ host: proxy.url, token, volume, prefix, ...options });
  onTestFinished(() => objects.close());
  return objects;
}

function refusal(error_code: string, message: string): string {
  return JSON.stringify({ error_code, message });
}

describe('UcVolumesObjects', () => {
  objectsContract(async () => open(), AWKWARD_OVER_NETWORK);
  networkContract(() => ({ proxy, open, secrets: [server.token], refusal }));

  describe('answers', () => {
    it.each([
      ['a list that is not JSON', 'STORAGE_UNAVAILABLE', '<html>'],
      [
        'a file without a size',
        'STORAGE_FAILED',
        '{"contents":[{"name":"a","is_directory":false,"last_modified":1}]}',
      ],
      [
        'a file without a time',
        'STORAGE_FAILED',
        '{"contents":[{"name":"a","is_directory":false,"file_size":1}]}',
      ],
    ])('%s is told as %s', async (_, code, body) => {
      proxy.fail({ kind: 'status', status: 200, body }, 3);
      expect((await errorOf(namesOf(open(QUICK), []))).code).toBe(code);
    });

    it('a page that leads to itself ends as STORAGE_UNAVAILABLE', async () => {
      proxy.fail({ kind: 'status', status: 200, body: '{"next_page_token":"x"}' }, 4);
      expect((await errorOf(namesOf(open(QUICK), []))).details).toMatchObject({
        operation: 'list',
        attempts: 3,
      });
    });
  });

  describe('folders', () => {
    it('are made once', async () => {
      const objects = open();
      for (const last of ['a', 'b', 'c']) await objects.put(['agents', 'one', last], Buffer.from('x'));
      expect(proxy.requests.filter(({ url }) => url.includes('/fs/directories/'))).toHaveLength(1);
    });

    it('are made again when someone took them away', async () => {
      const prefix = `gone-${++stores}`;
      const objects = open({ prefix });
      await objects.put(NAME, Buffer.from('a'));
      server.removeFolder(`${server.volume}/${prefix}`);
      await objects.put(NAME, Buffer.from('b'));
      expect(await textOf(objects, NAME)).toBe('b');
    });
  });

  describe('set-up', () => {
    it('that names an absent volume fails with STORAGE_FAILED at the first put', async () => {
      const objects = open({ volume: '/Volumes/main/agents/absent' });
      const error = await errorOf(objects.put(NAME, Buffer.from('a')));
      expect(error).toMatchObject({ code: 'STORAGE_FAILED', details: { status: 404 } });
    });

    it('with a wrong token fails with STORAGE_FAILED, and does not tell it', async () => {
      const error = await errorOf(open({ token: 'dapi-wrong' }).get(NAME));
      expect(error).toMatchObject({ code: 'STORAGE_FAILED', details: { status: 401, operation: 'get' } });
      expect(error.message).toContain('***');
      expect(JSON.stringify(error)).not.toContain('dapi-wrong');
    });

    it('asks for a token before each request', async () => {
      let asked = 0;
      const getToken = async () => (++asked === 1 ? 'expired' : server.token);
      const objects = open({ getToken });
      expect((await errorOf(objects.get(NAME))).details).toMatchObject({ status: 401 });
      expect(await objects.get(NAME)).toBeNull();
    });

    it.each([
      ['that throws', () => Promise.reject(new TypeError('no login'))],
      ['that cannot be sent', () => 'two\nlines'],
    ])('does not ask again for a token %s', async (_, getToken) => {
      const error = await errorOf(open({ ...QUICK, getToken }).get(NAME));
      expect(error.code).toBe('STORAGE_FAILED');
      expect(JSON.stringify(error)).not.toContain('lines');
      expect(proxy.requests).toEqual([]);
    });

    it('does not follow a page to log in', async () => {
      proxy.fail({ kind: 'status', status: 303 });
      expect((await errorOf(open().get(NAME))).details).toMatchObject({ status: 303 });
    });

    it.each([
      [{ volume: '/Volumes/main/agents' }],
      [{ volume: '/Volumes/main/../state' }],
      [{ volume: '/elsewhere/main/agents/state' }],
      [{ prefix: '../x' }],
      [{ host: 'http://example.com' }],
      [{ host: 'https://user:secret@example.com' }],
      [{ host: 'https://' }],
      [{ pageSize: 0 }],
      [{ retries: { deadlineMs: Number.NaN } }],
    ])('refuses %j with INVALID_ARGUMENT', (options: Partial<UcVolumesOptions>) => {
      expect(() => open(options)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
    });

    it('can be given as an address', async () => {
      const env = { DATABRICKS_HOST: proxy.url, DATABRICKS_TOKEN: server.token };
      const objects = openObjects(`uc:${server.volume}/by/address`, env);
      await objects.put(NAME, Buffer.from('a'));
      await objects.close();
      expect(await textOf(open({ prefix: 'by/address' }), NAME)).toBe('a');
      expect(await namesOf(open({ prefix: 'by' }), ['address'])).toEqual([NAME]);
    });
  });
});
