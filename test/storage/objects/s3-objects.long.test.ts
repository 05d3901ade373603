import { describe, expect, it } from 'vitest';
import { openObjects, type S3ObjectsOptions } from '../../../src/storage/objects/index.js';
import { AWKWARD_OVER_NETWORK } from './awkward-over-network.js';
import { errorOf, networkContract, QUICK } from './network-contract.js';
import { namesOf, objectsContract, patternOf, textOf } from './objects-contract.js';
import { s3Fixture, s3Refusal } from './s3-fixture.js';

const MIB = 1024 * 1024;
const NAME = ['agents', 'one', 'large'];

const { open, proxy, server } = s3Fixture();

describe('S3Objects', () => {
  objectsContract(async () => open(), AWKWARD_OVER_NETWORK);
  networkContract(() => ({ proxy: proxy(), open, secrets: [server().secretAccessKey], refusal: s3Refusal }));

  describe('a checksum that the server gives', () => {
    it('shows one wrong bit, and the bytes are asked for again', async () => {
      const objects = open(QUICK);
      await objects.put(NAME, patternOf(50_000));
      proxy().reset();
      proxy().fail({ kind: 'flipped-bit' });
      expect(Buffer.from((await objects.get(NAME))!).equals(patternOf(50_000))).toBe(true);
      expect(proxy().requests).toHaveLength(2);
    });

    it('that never fits ends as STORAGE_UNAVAILABLE', async () => {
      const objects = open(QUICK);
      await objects.put(NAME, patternOf(50_000));
      proxy().fail({ kind: 'flipped-bit' }, 3);
      expect((await errorOf(objects.get(NAME))).code).toBe('STORAGE_UNAVAILABLE');
    });
  });

  it('a list that does not say where it goes on is not taken for whole', async () => {
    const page = '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>';
    proxy().fail({ kind: 'status', status: 200, body: page }, 3);
    expect((await errorOf(namesOf(open(QUICK), []))).code).toBe('STORAGE_UNAVAILABLE');
  });

  describe('set-up', () => {
    it('that names an absent bucket fails with STORAGE_FAILED, and not as an absent object', async () => {
      const objects = open({ ...QUICK, bucket: 'absent' });
      const expected = { code: 'STORAGE_FAILED', details: { status: 404, serverCode: 'NoSuchBucket' } };
      await expect(objects.get(NAME)).rejects.toMatchObject(expected);
      await expect(objects.put(NAME, Buffer.from('a'))).rejects.toMatchObject(expected);
      await expect(namesOf(objects, [])).rejects.toMatchObject(expected);
    });

    it('with a wrong key fails with STORAGE_FAILED and says what to check', async () => {
      const error = await errorOf(
        open({ accessKeyId: 'AKIAABCDEFGHIJKLMNOP', secretAccessKey: 'not-the-secret' }).put(
          NAME,
          Buffer.from('a'),
        ),
      );
      expect(error).toMatchObject({ code: 'STORAGE_FAILED', details: { status: 403, operation: 'put' } });
      expect(error.message).toContain('Check the credentials');
      expect(JSON.stringify(error)).not.toMatch(/not-the-secret|AKIA/);
    });

    it('keeps to its prefix', async () => {
      const [one, two] = [open({ prefix: 'team/x' }), open({ prefix: 'team/xy' })];
      await one.put(NAME, Buffer.from('one'));
      expect(await two.get(NAME)).toBeNull();
      expect(await namesOf(two, [])).toEqual([]);
      const team = open({ prefix: '/team/' });
      expect(await namesOf(team, [])).toEqual([['x', ...NAME]]);
    });

    it.each([
      [{ bucket: '' }],
      [{ bucket: 'a/b' }],
      [{ partBytes: 5 * MIB - 1 }],
      [{ pageSize: 0 }],
      [{ prefix: 'a/../b' }],
      [{ endpoint: 'ftp://x' }],
      [{ secretAccessKey: undefined }],
      [{ timeoutMs: -1 }],
      [{ retries: { attempts: 0 } }],
    ])('refuses %j with INVALID_ARGUMENT', (options: Partial<S3ObjectsOptions>) => {
      expect(() => open(options)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
    });

    it('refuses a key that is longer than S3 allows, before anything is sent', async () => {
      const deep = Array.from({ length: 6 }, () => 'x'.repeat(180));
      await expect(open().put(deep, Buffer.from('a'))).rejects.toMatchObject({ code: 'INVALID_NAME' });
      expect(proxy().requests).toEqual([]);
    });

    it('can be given as an address', async () => {
      const { bucket, accessKeyId, secretAccessKey } = server();
      const env = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
      const address = `s3://${bucket}/by/address?endpoint=${encodeURIComponent(proxy().url)}&path_style=true`;
      const objects = openObjects(address, env);
      await objects.put(NAME, Buffer.from('a'));
      await objects.close();
      expect(await textOf(open({ prefix: 'by/address' }), NAME)).toBe('a');
    });
  });
});
